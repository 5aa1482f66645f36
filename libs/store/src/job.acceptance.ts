import { placementDocument, type Placed, type Placement } from './job.placement';
import { agentFields, flattenJob, type DecisionRecord, type JobRecord } from './job.record';
import { type MoveExtras, type Retention, toRetain } from './job.transition';
import type { Fence } from './lease';

/** A memory named by a job or run. */
export interface MemoryClaim {
  id: string;
  /** Shared among tenants by the installation, without an owner. */
  shared: boolean;
}

export interface Acceptance {
  id: string;
  tenant: string;
  traceId: string;
  topic: string;
  fields: Partial<JobRecord>;
  context: string;
  decision?: DecisionRecord;
  priority: number;
  /** Cost of a turn of its tenant among undecided jobs: 1, or less for a tenant of higher weight. Default 1. */
  turnCost?: number;
  /** The id was generated, so it cannot exist. */
  isNew?: boolean;
  /** Internal keys have a separate namespace, so that clients cannot reserve them. */
  idempotency?: { key: string; hash: string; answer: string; ttlSec: number; isInternal?: boolean };
  /** Rejects the job unless the caller holds the lock of its run, so that a stale engine creates no jobs. */
  fence?: Fence;
  /** Maximum number of open jobs of the tenant; 0 = no limit. */
  activeLimit: number;
  /** The memory it names, assigned to the tenant on first use. Absent for the job's own and its run's own. */
  memory?: MemoryClaim;
  /** A transition applied on creation: held or denied. */
  next?: { event: 'hold' | 'deny'; extras: MoveExtras };
  /** For a job that its decision permits; absent: the scheduler decides and places it. */
  place?: Placement;
}

export type AcceptOutcome =
  /** `cancelled`: jobs that its limits ended, with messages to publish. */
  | { kind: 'accepted'; atUs: number; placed: Placed; cancelled?: readonly string[] }
  /** Another job of its singleton key is open. */
  | { kind: 'singleton'; jobId: string; traceId: string }
  | { kind: 'replay'; answer: string }
  | { kind: 'conflict' }
  | { kind: 'backpressure'; active: number }
  | { kind: 'exists' }
  /** Another tenant owns its memory. */
  | { kind: 'memory_taken' }
  /** An agent of the job is no longer as it was checked. */
  | { kind: 'agent_changed' };

/** The acceptance without the fields and the decision of the record. @param next the transition on creation, as for `move_job()` */
export const acceptanceHead = (a: Acceptance, retention: Retention, next?: object): object => ({
  id: a.id,
  tenant: a.tenant,
  trace_id: a.traceId,
  topic: a.topic,
  meta_sec: retention.metaSec,
  priority: a.priority,
  ...(a.turnCost !== undefined && a.turnCost !== 1 && { turn_cost: a.turnCost }),
  active_limit: a.activeLimit,
  queue: 'submit',
  ...(a.idempotency && {
    idempotency: {
      key: a.idempotency.key,
      hash: a.idempotency.hash,
      answer: a.idempotency.answer,
      ttl_sec: a.idempotency.ttlSec,
      ...(a.idempotency.isInternal && { internal: true }),
    },
  }),
  ...(a.isNew && { is_new: true }),
  ...(a.fence && { fence: a.fence }),
  ...(a.memory && { memory: a.memory }),
  ...agentFields(a.fields),
  ...(a.fields.run_path !== undefined && { run: a.fields.run, run_path: a.fields.run_path }),
  ...(next && { next }),
  ...(a.fields.request?.limits && { limits: a.fields.request.limits, retain: toRetain(retention) }),
  ...(a.place && { place: placementDocument(a.place, toRetain(retention)) }),
});

/** The acceptance as `accept_job()` expects it. */
export const acceptanceDocument = (a: Acceptance, retention: Retention): object => ({
  ...acceptanceHead(a, retention),
  fields: flattenJob(a.fields),
  ...(a.decision && { decision: JSON.stringify(a.decision) }),
});
