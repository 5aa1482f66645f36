import { releaseDeadLetter as endpoint } from '@svc/contract';
import { releaseQuarantine } from '@svc/jobs';
import { handle } from '../../context';

export const release = handle(endpoint, ({ params, body, caller, ctx }) =>
  releaseQuarantine(ctx.submit, caller, params.job_id, body.reason),
);
