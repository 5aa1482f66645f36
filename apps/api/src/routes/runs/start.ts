import { startRun as endpoint } from '@svc/contract';
import { answer } from '@svc/http';
import { startRun } from '@svc/workflows';
import { handle } from '../../context';

export const start = handle(endpoint, async ({ params, query, body, header, requestId, caller, ctx }) => {
  const keys = [
    header('Idempotency-Key'),
    header('X-Idempotency-Key'),
    query.idempotency_key,
    query['idempotency-key'],
  ];
  const idempotencyKey = keys.find((given) => given !== undefined && given !== '');
  const { runId, replayed } = await startRun(ctx.runs, caller, {
    workflowId: params.id,
    input: body,
    dryRun: query.dry_run,
    requestId,
    ...(query.org_id && { orgId: query.org_id }),
    ...(query.team_id && { teamId: query.team_id }),
    ...(idempotencyKey !== undefined && { idempotencyKey }),
  });
  return answer(
    { run_id: runId },
    { headers: { 'X-Trace-Id': runId, ...(replayed && { 'Idempotency-Replayed': 'true' }) } },
  );
});
