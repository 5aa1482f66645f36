import { removeSchema as endpoint } from '@svc/contract';
import { removeSchema } from '@svc/registry';
import { handle } from '../../context';

export const remove = handle(endpoint, ({ params, caller, ctx }) => removeSchema(ctx.schemas, caller, params.id));
