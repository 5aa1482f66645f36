import * as contract from '@svc/contract';
import { answer, handlersFor } from '@svc/http';
import type { FleetDeps } from '@svc/registry';
import { type CancelDeps, cancelJob } from './cancel-job';
import { awaitJob, getTrace, jobDecisions, listJobs, type WaitDeps } from './read-jobs';
import { remediateJob } from './remediate-job';
import type { ResubmitDeps } from './resubmit';
import { type SubmitDeps, submitJob } from './submit-job';
import { workerJobs } from './worker-jobs';

/** Dependencies of these handlers. */
export interface JobContext {
  cancel: CancelDeps;
  submit: SubmitDeps;
  reads: WaitDeps;
  resubmit: ResubmitDeps;
  fleet: FleetDeps;
}

const handle = handlersFor<JobContext>();

/** Jobs, their decisions and their traces. */
export const jobRoutes = [
  handle(contract.submitJob, async ({ body, query, header, caller, ctx }) => {
    const keys = [
      header('Idempotency-Key'),
      header('X-Idempotency-Key'),
      query.idempotency_key,
      query['idempotency-key'],
    ];
    const key = [...keys, body.idempotency_key].find((given) => given !== undefined && given !== '');
    const { jobId, traceId, approvalReason, replayed } = await submitJob(ctx.submit, caller, body, {
      idempotencyKey: key,
      agentId: header('X-Agent-Id'),
    });
    const held = approvalReason === undefined ? {} : { status: 'approval_required', reason: approvalReason };
    return answer(
      { job_id: jobId, trace_id: traceId, ...held },
      { headers: { 'X-Trace-Id': traceId, ...(replayed && { 'Idempotency-Replayed': 'true' }) } },
    );
  }),
  handle(contract.getJob, ({ params, query, caller, ctx }) =>
    awaitJob(ctx.reads, caller.scope, params.id, query.wait_ms),
  ),
  handle(contract.listJobs, ({ query, caller, ctx }) => listJobs(ctx.submit, caller, query)),
  handle(contract.cancelJob, async ({ params, caller, ctx }) => {
    const { state, changed } = await cancelJob(ctx.cancel, caller.scope, params.id);
    return { id: params.id, state, ...(!changed && { reason: 'job already terminal' }) };
  }),
  handle(contract.jobDecisions, ({ params, query, caller, ctx }) =>
    jobDecisions(ctx.submit, caller.scope, params.id, query.limit),
  ),
  handle(contract.remediateJob, async ({ params, body, caller, ctx }) => {
    const { jobId, traceId } = await remediateJob(ctx.resubmit, caller, params.id, body.remediation_id);
    return { job_id: jobId, trace_id: traceId };
  }),
  handle(contract.getTrace, ({ params, caller, ctx }) => getTrace(ctx.submit, caller.tenant, params.id)),
  handle(contract.workerJobs, async ({ params, query, caller, ctx }) => ({
    items: await workerJobs(ctx.fleet, caller, params.id, query.limit),
  })),
];
