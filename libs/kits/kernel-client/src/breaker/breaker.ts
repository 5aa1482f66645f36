import {
  breakerStates,
  failThreshold,
  mostProbes,
  openMs,
  successesToClose,
  type BreakerEvent,
  type BreakerState,
} from './breaker.states';

/** What all processes know of a breaker. It never changes: each step makes a new one. */
export interface BreakerRecord {
  state: BreakerState;
  /** Failures since `sinceMs` while closed. */
  failures: number;
  /** While closed: the first failure counted. While open: when it opened. Half-open: the last probe that was let through. */
  sinceMs: number;
  /** Let through while half-open and not yet answered. */
  probes: number;
  /** Probes that went well. */
  successes: number;
  /** Counts changes, for compare-and-set; 0 = never changed. */
  revision: number;
}

export const freshBreaker: BreakerRecord = {
  state: 'closed',
  failures: 0,
  sinceMs: 0,
  probes: 0,
  successes: 0,
  revision: 0,
};

export type Admission =
  { kind: 'normal' | 'probe'; record: BreakerRecord } | { kind: 'refused'; record: BreakerRecord };

/**
 * Whether a call may be made. Open for 30 s, then at most 3 probes at a time. A probe whose process died is forgotten
 * after as long as the breaker stays open, or it would be waited for for ever. See docs/reference/policy.md#kernel.
 */
export function admit(record: BreakerRecord, nowMs: number): Admission {
  const over = nowMs - record.sinceMs >= openMs;
  switch (record.state) {
    case 'closed':
      return { kind: 'normal', record };
    case 'open':
      if (!over) return { kind: 'refused', record };
      return { kind: 'probe', record: moved(record, 'probe', { sinceMs: nowMs, probes: 1 }) };
    case 'half_open': {
      const probes = over ? 0 : record.probes;
      if (probes >= mostProbes) return { kind: 'refused', record };
      return { kind: 'probe', record: { ...record, sinceMs: nowMs, probes: probes + 1 } };
    }
  }
}

/**
 * What a call's outcome makes of the breaker. Failures count within 30 s of the first; successes between them do not take
 * them back, or a flapping kernel would never be cut off. A call made before the last move counts for nothing.
 */
export function settle(
  record: BreakerRecord,
  call: 'normal' | 'probe',
  outcome: 'answered' | 'failed',
  nowMs: number,
): BreakerRecord {
  if (record.state === 'closed' && call === 'normal') return outcome === 'failed' ? failed(record, nowMs) : record;
  if (record.state !== 'half_open' || call !== 'probe') return record;
  if (outcome === 'failed') return moved(record, 'relapse', { sinceMs: nowMs, failures: record.failures });
  const successes = record.successes + 1;
  if (successes >= successesToClose) return moved(record, 'recover', {});
  return { ...record, successes, probes: Math.max(0, record.probes - 1) };
}

/** How long an open breaker refuses calls from now on, in milliseconds. */
export const cooldownMs = ({ state, sinceMs }: BreakerRecord, nowMs: number): number =>
  state === 'open' ? Math.max(0, sinceMs + openMs - nowMs) : 0;

function failed(record: BreakerRecord, nowMs: number): BreakerRecord {
  const counts = record.failures > 0 && nowMs - record.sinceMs < openMs;
  const failures = counts ? record.failures + 1 : 1;
  if (failures >= failThreshold) return moved(record, 'trip', { sinceMs: nowMs, failures });
  return { ...record, failures, sinceMs: counts ? record.sinceMs : nowMs };
}

/** @throws for a move that the table does not have, which is a defect here */
function moved(record: BreakerRecord, event: BreakerEvent, fields: Partial<BreakerRecord>): BreakerRecord {
  const state = breakerStates.next(record.state, event);
  if (!state) throw new Error(`a breaker that is ${record.state} cannot ${event}`);
  return { ...freshBreaker, revision: record.revision, ...fields, state };
}
