import { sayInChat as endpoint } from '@svc/contract';
import { sayInChat } from '@svc/workflows';
import { handle } from '../../context';

export const say = handle(endpoint, ({ params, body, caller, ctx }) => sayInChat(ctx.runs, caller, params.id, body));
