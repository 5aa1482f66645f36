import { listDeadLetters as endpoint } from '@svc/contract';
import { listDeadLetters } from '@svc/jobs';
import { handle } from '../../context';

export const list = handle(endpoint, ({ query, caller, ctx }) =>
  listDeadLetters(ctx.submit, caller.tenant, query.limit),
);
