import { reservationDocument, type Reservation } from './spend.repository';

export interface WorkerSlot {
  id: string;
  pool: string;
  /** 0 = not announced; slots are not limited. */
  max: number;
}

/** Where a permitted job goes: to the proposed worker, or to its lane. */
export interface DispatchPlan {
  lane: { id: string; spec: string; level: number };
  worker?: WorkerSlot;
  dispatchId: string;
  /** Waiting reason if no worker is proposed. */
  reason: string;
  runMs: number;
  deadlineMs: number;
  tenantCap: number;
  /** Cost of a turn: 1, or less for a tenant of higher weight. */
  turnCost?: number;
  licenseCap: number;
  waitMs: number;
}

/** The placement that the accepting call makes while the policy of the decision is in effect. See ADR 18. */
export interface Placement extends DispatchPlan {
  /** Policy part of the snapshot of the decision. */
  snapshot: string;
  /** Waiting lanes that the proposed worker does not serve; a job in any other lane precedes the new one. */
  otherLanes: readonly string[];
  /** False: without a free worker the job goes to the queue of undecided jobs, since only the scheduler can preempt. */
  mayWait: boolean;
  /** Reserved with the placement. If it does not fit, the job goes to the queue of undecided jobs. */
  budget?: Reservation;
}

/** Position of a new job after the accepting call. */
export type Placed =
  | { kind: 'queued' }
  /** Its concurrency key is full, and its strategy is to cancel it. */
  | { kind: 'cancelled' }
  | { kind: 'waiting'; reason: string }
  | { kind: 'dispatched'; attempt: number };

/** The placement as `accept-1.lua` expects it. @param retain retention of ended jobs, for the transition */
export const placementDocument = (p: Placement, retain: object): object => ({
  snapshot: p.snapshot,
  lane: p.lane,
  ...(p.worker && {
    worker: p.worker,
    other_lanes: p.otherLanes,
    dispatch_id: p.dispatchId,
    deadline_ms: p.deadlineMs,
    license_cap: p.licenseCap,
    from: ['PENDING'],
    retain,
  }),
  may_wait: p.mayWait,
  reason: p.reason,
  run_ms: p.runMs,
  tenant_cap: p.tenantCap,
  turn_cost: p.turnCost ?? 1,
  wait_ms: p.waitMs,
  ...(p.budget && { budget: reservationDocument(p.budget) }),
});

/** Parses the position in the reply of `accept-1.lua`. */
export function parsePlaced(kind: string, detail: string): Placed {
  switch (kind) {
    case 'dispatched':
      return { kind, attempt: Number(detail) };
    case 'waiting':
      return { kind, reason: detail };
    case 'cancelled':
      return { kind };
    default:
      return { kind: 'queued' };
  }
}
