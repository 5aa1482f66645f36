import { listSchemas as endpoint } from '@svc/contract';
import { listSchemas } from '@svc/registry';
import { handle } from '../../context';

export const list = handle(endpoint, ({ query, caller, ctx }) => listSchemas(ctx.schemas, caller, query.limit));
