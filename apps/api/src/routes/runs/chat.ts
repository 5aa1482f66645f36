import { readChat as endpoint } from '@svc/contract';
import { readChat } from '@svc/workflows';
import { handle } from '../../context';

export const chat = handle(endpoint, ({ params, query, caller, ctx }) => readChat(ctx.runs, caller, params.id, query));
