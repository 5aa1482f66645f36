import { remediateJob as endpoint } from '@svc/contract';
import { remediateJob } from '@svc/jobs';
import { handle } from '../../context';

export const remediate = handle(endpoint, async ({ params, body, caller, ctx }) => {
  const { jobId, traceId } = await remediateJob(ctx.resubmit, caller, params.id, body.remediation_id);
  return { job_id: jobId, trace_id: traceId };
});
