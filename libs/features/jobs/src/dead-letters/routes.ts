import * as contract from '@svc/contract';
import { handlersFor } from '@svc/http';
import type { ResubmitDeps } from '../resubmit';
import type { SubmitDeps } from '../submit-job';
import { listDeadLetters, pageDeadLetters, removeDeadLetter, retryDeadLetter } from './dead-letters';
import { releaseQuarantine } from './resolve-quarantine';

/** Dependencies of these handlers. */
export interface DeadLetterContext {
  submit: SubmitDeps;
  resubmit: ResubmitDeps;
}

const handle = handlersFor<DeadLetterContext>();

/** Dead letters. */
export const deadLetterRoutes = [
  handle(contract.listDeadLetters, ({ query, caller, ctx }) => listDeadLetters(ctx.submit, caller.tenant, query.limit)),
  handle(contract.pageDeadLetters, ({ query, caller, ctx }) => pageDeadLetters(ctx.submit, caller.tenant, query)),
  handle(contract.removeDeadLetter, ({ params, caller, ctx }) => removeDeadLetter(ctx.submit, caller, params.job_id)),
  handle(contract.retryDeadLetter, async ({ params, caller, ctx }) => ({
    job_id: await retryDeadLetter(ctx.resubmit, caller, params.job_id),
  })),
  handle(contract.releaseDeadLetter, ({ params, body, caller, ctx }) =>
    releaseQuarantine(ctx.submit, caller, params.job_id, body.reason),
  ),
];
