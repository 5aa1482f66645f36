import { submitJob as endpoint } from '@svc/contract';
import { answer } from '@svc/http';
import { submitJob } from '@svc/jobs';
import { handle } from '../../context';

export const submit = handle(endpoint, async ({ body, query, header, caller, ctx }) => {
  const keys = [
    header('Idempotency-Key'),
    header('X-Idempotency-Key'),
    query.idempotency_key,
    query['idempotency-key'],
  ];
  const key = [...keys, body.idempotency_key].find((given) => given !== undefined && given !== '');
  const { jobId, traceId, approvalReason, replayed } = await submitJob(ctx.submit, caller, body, key);
  const held = approvalReason === undefined ? {} : { status: 'approval_required', reason: approvalReason };
  return answer(
    { job_id: jobId, trace_id: traceId, ...held },
    { headers: { 'X-Trace-Id': traceId, ...(replayed && { 'Idempotency-Replayed': 'true' }) } },
  );
});
