import { getSchema as endpoint } from '@svc/contract';
import { getSchema } from '@svc/registry';
import { handle } from '../../context';

export const get = handle(endpoint, ({ params, caller, ctx }) => getSchema(ctx.schemas, caller, params.id));
