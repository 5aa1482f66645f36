import { grantsLabel } from '@svc/contract';
import { requestHash } from '@svc/decision';
import type { GrantFacts, GrantSigner } from '@svc/identity';
import { type ApprovalRecord, type DispatchedJob, toResolution } from '@svc/store';
import type { WorkerRegistry } from './worker-registry';

export interface GrantDeps {
  registry: Pick<WorkerRegistry, 'mayHave'>;
  /** Undefined: dispatches have no grants. */
  grants?: GrantSigner | undefined;
}

/** Decisions that permit a job without an approval; UNAVAILABLE only by fail mode open. */
const permitting: readonly string[] = ['ALLOW', 'ALLOW_WITH_CONSTRAINTS', 'UNAVAILABLE'];

/**
 * Adds a grant to an encoded dispatch; undefined for workers that verify none, and for a job that neither policy nor an
 * approval permits. See docs/adr/0029-dispatch-grants.md.
 */
export function grantSeal(
  { registry, grants }: GrantDeps,
  job: DispatchedJob,
  nowMs: number,
): ((packet: Uint8Array) => Uint8Array) | undefined {
  if (!grants || !registry.mayHave(job.worker_id, grantsLabel, nowMs)) return undefined;
  const facts = toGrantFacts(job);
  return facts && ((packet) => grants.seal(packet, facts, nowMs));
}

/** What a grant states about a dispatch; undefined when nothing permits the job. */
export function toGrantFacts(job: DispatchedJob): GrantFacts | undefined {
  const { approval, safety } = job;
  const facts = {
    tenant: job.tenant,
    jobId: job.id,
    dispatchId: job.dispatch_id,
    attempt: job.attempts,
    workerId: job.worker_id,
    decision: safety?.decision ?? '',
    jobHash: job.job_hash,
  };
  if (approval && toResolution(approval) === 'approved' && approval.job_hash === requestHash(job)) {
    return {
      ...facts,
      approval: 'granted',
      policySnapshot: approval.policy_snapshot ?? '',
      jobHash: approval.job_hash,
      ...approverIn(approval),
      ...(approval.input_hash && { inputSha256: approval.input_hash }),
    };
  }
  if (!permitting.includes(facts.decision)) return undefined;
  return { ...facts, approval: 'not_required', policySnapshot: safety?.policy_snapshot ?? '' };
}

/** The name that the record shows; never the identity of the credential. */
function approverIn({ resolved_by: name, resolved_role: role, resolved_at: at }: ApprovalRecord) {
  return name === undefined ? {} : { approver: { name, role: role ?? '', atSec: Math.floor((at ?? 0) / 1_000_000) } };
}
