import { pageDeadLetters as endpoint } from '@svc/contract';
import { pageDeadLetters } from '@svc/jobs';
import { handle } from '../../context';

export const page = handle(endpoint, ({ query, caller, ctx }) => pageDeadLetters(ctx.submit, caller.tenant, query));
