import { shadowDiffs, type ShadowBucket, type ShadowBucketView, type ShadowDiff } from '@svc/contract';
import { isStricter, type PolicyDecision } from '@svc/policy';

/**
 * Comparison of shadow policies with the live one, and counts of their results.
 * See docs/reference/policy.md#shadow-policies.
 */

type Compared = Pick<PolicyDecision, 'decision' | 'approval_required'>;

/** The difference between a shadow's and the live decision. Whether approval is required counts before strictness. */
export function compareDecisions(active: Compared, shadow: Compared): ShadowDiff {
  const differsInApproval = needsApproval(active) !== needsApproval(shadow);
  if (active.decision === shadow.decision && !differsInApproval) return 'unchanged';
  if (differsInApproval) return 'approval_differ';
  return isStricter(shadow.decision, active.decision) ? 'escalated' : 'relaxed';
}

const needsApproval = ({ decision, approval_required }: Compared): boolean =>
  approval_required || decision === 'REQUIRE_APPROVAL';

/** Severity in the audit event of a result. */
export const severities = {
  escalated: 'MEDIUM',
  relaxed: 'LOW',
  approval_differ: 'LOW',
  unchanged: 'INFO',
} as const satisfies Record<ShadowDiff, string>;

const MAX_WINDOW_MS = 30 * 86_400_000;
const MAX_BUCKETS = 2_000;
const minuteMs = 60_000;
const bucketMs: Record<ShadowBucket, number> = {
  '1m': minuteMs,
  '5m': 5 * minuteMs,
  '15m': 15 * minuteMs,
  '1h': 60 * minuteMs,
  '1d': 1_440 * minuteMs,
};

/** Time range of a query; unix ms. */
export interface Window {
  from: number;
  /** Exclusive. */
  to: number;
}

/** The error of an invalid window; undefined when it is valid. */
export function windowFault({ from, to }: Window): string | undefined {
  if (to <= from) return 'to must be after from';
  return to - from > MAX_WINDOW_MS ? 'from and to may be 30 days apart' : undefined;
}

/** The error of an invalid bucket length; undefined when it is valid. */
export function bucketFault(window: Window, bucket: ShadowBucket): string | undefined {
  const asked = bucketCount(window, bucket);
  return asked > MAX_BUCKETS
    ? `the range has ${asked} buckets and at most ${MAX_BUCKETS} are returned: use longer buckets`
    : undefined;
}

/** Rounds down to the start of a bucket, in UTC; unix ms. */
export const alignedDown = (ms: number, bucket: ShadowBucket): number => ms - (ms % bucketMs[bucket]);

const bucketCount = ({ from, to }: Window, bucket: ShadowBucket): number =>
  Math.ceil((to - alignedDown(from, bucket)) / bucketMs[bucket]);

export type DiffCounts = Record<ShadowDiff, number>;

export function countDiffs(results: readonly { diff: ShadowDiff }[]): DiffCounts {
  const counts = noDiffs();
  for (const { diff } of results) counts[diff] += 1;
  return counts;
}

const noDiffs = (): DiffCounts => ({ escalated: 0, relaxed: 0, approval_differ: 0, unchanged: 0 });
export const sumCounts = (counts: DiffCounts): number => shadowDiffs.reduce((sum, diff) => sum + counts[diff], 0);

/** Counts by bucket, for all buckets of the window, oldest first. Results outside the window are ignored. */
export function buildTimeseries(
  results: readonly { ts_ms: number; diff: ShadowDiff }[],
  window: Window,
  bucket: ShadowBucket,
): ShadowBucketView[] {
  const [startMs, stepMs] = [alignedDown(window.from, bucket), bucketMs[bucket]];
  const counts = Array.from({ length: bucketCount(window, bucket) }, noDiffs);
  for (const { ts_ms, diff } of results) {
    const into = ts_ms < window.to ? counts[Math.floor((ts_ms - startMs) / stepMs)] : undefined;
    if (into) into[diff] += 1;
  }
  return counts.map((of, i) => ({ ts_ms: startMs + i * stepMs, ...of, total: sumCounts(of) }));
}

/** The position where a page of results ended. */
export interface CursorPosition {
  ts_ms: number;
  seq: number;
}

export const encodeCursor = ({ ts_ms, seq }: CursorPosition): string => `${ts_ms}-${seq}`;

/** @returns undefined for an invalid cursor */
export function decodeCursor(cursor: string): CursorPosition | undefined {
  const [, ms, seq] = /^(\d{1,15})-(\d{1,15})$/.exec(cursor) ?? [];
  return ms === undefined ? undefined : { ts_ms: Number(ms), seq: Number(seq) };
}
