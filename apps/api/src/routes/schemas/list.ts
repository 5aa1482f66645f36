import { listSchemas as endpoint } from '@svc/contract';
import { listSchemas } from '@svc/services';
import { handle } from '../../context';

export const list = handle(endpoint, ({ query, ctx }) => listSchemas(ctx.schemas, query.limit));
