import type { ApprovalGroup, ApprovalGroupView, ApprovalSummaryView } from '@svc/contract';
import type { LoggedResolution } from './decision-log';

type Resolution = Pick<LoggedResolution, 'atMs' | 'heldAtMs' | 'outcome' | 'by' | 'ruleId' | 'agentId' | 'topic'>;

/** Figures of all resolutions. Times are those of resolutions by people. See docs/reference/governance.md#approvals. */
export function summarizeApprovals(resolutions: readonly Resolution[]): ApprovalSummaryView {
  const times = waitsOfPeople(resolutions);
  const { auto_count, manual_count, ...counts } = countOutcomes(resolutions);
  return {
    ...counts,
    auto_resolved: auto_count,
    manual_resolved: manual_count,
    avg_time_to_approve_seconds: average(times),
    p50: percentile(times, 50),
    p90: percentile(times, 90),
    p99: percentile(times, 99),
  };
}

const keyOf: Readonly<Record<Exclude<ApprovalGroup, 'overall'>, (one: Resolution) => string>> = {
  rule: ({ ruleId }) => ruleId,
  agent: ({ agentId }) => agentId,
  topic: ({ topic }) => topic,
  approver: ({ by }) => by,
};
const unnamed: Readonly<Record<Exclude<ApprovalGroup, 'overall'>, string>> = {
  rule: 'default decision',
  agent: 'no agent',
  topic: 'no topic',
  approver: 'service',
};

/** The same by group, slowest first; groups without a time are last. */
export function groupApprovals(
  resolutions: readonly Resolution[],
  groupBy: Exclude<ApprovalGroup, 'overall'>,
  limit: number,
): ApprovalGroupView[] {
  const groups = new Map<string, Resolution[]>();
  for (const one of resolutions) {
    const key = keyOf[groupBy](one);
    const group = groups.get(key);
    if (group) group.push(one);
    else groups.set(key, [one]);
  }
  return [...groups]
    .map(([key, own]): ApprovalGroupView => {
      const times = waitsOfPeople(own);
      const label = key || unnamed[groupBy];
      return {
        key,
        label,
        ...countOutcomes(own),
        avg_ttar_seconds: average(times),
        p90_seconds: percentile(times, 90),
      };
    })
    .sort(
      (a, b) =>
        (b.avg_ttar_seconds ?? -1) - (a.avg_ttar_seconds ?? -1) || b.total - a.total || (a.key < b.key ? -1 : 1),
    )
    .slice(0, limit);
}

function countOutcomes(resolutions: readonly Resolution[]) {
  const count = (wanted: Resolution['outcome']) => resolutions.filter(({ outcome }) => outcome === wanted).length;
  const manual_count = resolutions.filter(({ by }) => by !== '').length;
  return {
    total: resolutions.length,
    approved: count('approved'),
    rejected: count('rejected'),
    expired: count('expired'),
    auto_count: resolutions.length - manual_count,
    manual_count,
  };
}

/** Waits of approvals that a person resolved, ascending; seconds. */
export const waitsOfPeople = (resolutions: readonly Resolution[]): number[] =>
  resolutions
    .filter(({ by }) => by !== '')
    .map(({ atMs, heldAtMs }) => Math.max(0, atMs - heldAtMs) / 1_000)
    .sort((a, b) => a - b);

const round = (seconds: number): number => Math.round(seconds * 1_000) / 1_000;

const average = (times: readonly number[]): number | null =>
  times.length === 0 ? null : round(times.reduce((sum, time) => sum + time, 0) / times.length);

/** Nearest rank. @param times ascending */
export function percentile(times: readonly number[], percent: number): number | null {
  const value = times[Math.max(0, Math.ceil((percent / 100) * times.length) - 1)];
  return value === undefined ? null : round(value);
}
