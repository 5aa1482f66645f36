import { removeSchema as endpoint } from '@svc/contract';
import { removeSchema } from '@svc/services';
import { handle } from '../../context';

export const remove = handle(endpoint, ({ params, ctx }) => removeSchema(ctx.schemas, params.id));
