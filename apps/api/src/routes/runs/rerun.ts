import { rerunRun as endpoint } from '@svc/contract';
import { answer } from '@svc/http';
import { rerunRun } from '@svc/workflows';
import { handle } from '../../context';

export const rerun = handle(endpoint, async ({ params, body, requestId, caller, ctx }) => {
  const runId = await rerunRun(ctx.runs, caller, {
    runId: params.id,
    dryRun: body.dry_run,
    requestId,
    ...(body.from_step && { fromStep: body.from_step }),
  });
  return answer({ run_id: runId }, { headers: { 'X-Trace-Id': runId } });
});
