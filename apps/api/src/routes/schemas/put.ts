import { putSchema as endpoint } from '@svc/contract';
import { putSchema } from '@svc/registry';
import { handle } from '../../context';

export const put = handle(endpoint, ({ body, caller, ctx }) => putSchema(ctx.schemas, caller, body));
