import type {
  ApprovalAnalyticsQuery,
  ApprovalAnalyticsView,
  Caller,
  ResolutionItem,
  ResolutionsQuery,
} from '@svc/contract';
import { groupApprovals, summarizeApprovals } from './approval-figures';
import type { LoggedResolution } from './decision-log';
import type { GovernanceDeps } from './governance-deps';
import { decodeCursor, pageLog, scanLog } from './scan-log';
import { toListWindow, toWindow, toWindowView } from './time-window';

const keepMs = 30_000;

/**
 * How approvals of the caller's tenant were resolved, cached for 30 s. See docs/reference/governance.md#approvals.
 *
 * @throws invalid_body
 */
export async function approvalAnalytics(
  deps: Pick<GovernanceDeps, 'decisionLog' | 'clock' | 'cache' | 'events'>,
  { tenant }: Caller,
  query: ApprovalAnalyticsQuery,
): Promise<ApprovalAnalyticsView> {
  const startedMs = deps.clock.nowMs();
  const window = toWindow(query, startedMs);
  const { group_by, limit } = query;
  const key = ['approvals', tenant, query.window, query.since, query.until, group_by, limit];
  const { isCached, result } = deps.cache.read(key, keepMs, async (): Promise<ApprovalAnalyticsView> => {
    const read = deps.decisionLog.resolutions.bind(deps.decisionLog, tenant);
    const { entries, isCut } = await scanLog(read, window);
    const groups = group_by === 'overall' ? undefined : groupApprovals(entries, group_by, limit);
    return {
      window: toWindowView(window),
      summary: summarizeApprovals(entries),
      truncated_at_max: isCut,
      ...(groups && { groups }),
    };
  });
  const view = await result;
  deps.events.approvalsQueried(group_by, isCached, (deps.clock.nowMs() - startedMs) / 1_000);
  return view;
}

/** Who resolved which approval of the caller's tenant, newest first. @throws invalid_body */
export async function listResolutions(
  { decisionLog, clock }: Pick<GovernanceDeps, 'decisionLog' | 'clock'>,
  { tenant }: Caller,
  { limit, cursor, ...query }: ResolutionsQuery,
): Promise<{ items: ResolutionItem[]; next_cursor: string }> {
  const { resolved_by, rule_id, agent_id, topic, outcome } = query;
  const fits = (one: LoggedResolution) =>
    (resolved_by === undefined || one.by === resolved_by) &&
    (rule_id === undefined || one.ruleId === rule_id) &&
    (agent_id === undefined || one.agentId === agent_id) &&
    (topic === undefined || one.topic === topic) &&
    (outcome === undefined || one.outcome === outcome);
  const range = {
    ...toListWindow(query, clock.nowMs()),
    ...(cursor !== undefined && { before: decodeCursor(cursor) }),
  };
  const read = decisionLog.resolutions.bind(decisionLog, tenant);
  const { entries, nextCursor } = await pageLog(read, range, fits, limit);
  return { items: entries.map(toItem), next_cursor: nextCursor };
}

const toItem = (one: LoggedResolution): ResolutionItem => ({
  job_id: one.jobId,
  topic: one.topic,
  matched_rule: one.ruleId,
  agent_id: one.agentId,
  outcome: one.outcome,
  resolved_by: one.by,
  resolved_role: one.role,
  reason: one.reason,
  held_at: new Date(one.heldAtMs).toISOString(),
  resolved_at: new Date(one.atMs).toISOString(),
  waited_seconds: Math.max(0, one.atMs - one.heldAtMs) / 1_000,
});
