import {
  breakerStates,
  failThreshold,
  MAX_PROBES,
  openMs,
  successesToClose,
  type BreakerEvent,
  type BreakerState,
} from './breaker.states';

/** Shared state of a breaker. Immutable: each step creates a new record. */
export interface BreakerRecord {
  state: BreakerState;
  /** Failures since `sinceMs` while closed. */
  failures: number;
  /** While closed: the first failure counted. While open: when it opened. Half-open: the last permitted probe. */
  sinceMs: number;
  /** Probes in flight while half-open. */
  probes: number;
  /** Successful probes. */
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
 * Whether a call is permitted. Open for 30 s, then at most 3 concurrent probes. The probe of a crashed process expires
 * after the open time, otherwise it would occupy a slot forever. See docs/reference/policy.md#kernel.
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
      if (probes >= MAX_PROBES) return { kind: 'refused', record };
      return { kind: 'probe', record: { ...record, sinceMs: nowMs, probes: probes + 1 } };
    }
  }
}

/**
 * Applies the outcome of a call. Failures count within 30 s of the first; successes in between do not reset them,
 * otherwise the breaker would never open for a flapping kernel. Calls from before the last transition are ignored.
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

/** Remaining time in which an open breaker rejects calls, in milliseconds. */
export const cooldownMs = ({ state, sinceMs }: BreakerRecord, nowMs: number): number =>
  state === 'open' ? Math.max(0, sinceMs + openMs - nowMs) : 0;

function failed(record: BreakerRecord, nowMs: number): BreakerRecord {
  const counts = record.failures > 0 && nowMs - record.sinceMs < openMs;
  const failures = counts ? record.failures + 1 : 1;
  if (failures >= failThreshold) return moved(record, 'trip', { sinceMs: nowMs, failures });
  return { ...record, failures, sinceMs: counts ? record.sinceMs : nowMs };
}

/** @throws for a transition that is not in the table, which is a defect */
function moved(record: BreakerRecord, event: BreakerEvent, fields: Partial<BreakerRecord>): BreakerRecord {
  const state = breakerStates.next(record.state, event);
  if (!state) throw new Error(`a breaker that is ${record.state} cannot ${event}`);
  return { ...freshBreaker, revision: record.revision, ...fields, state };
}
