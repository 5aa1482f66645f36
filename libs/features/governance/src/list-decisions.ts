import type { Caller, DecisionItem, DecisionsQuery } from '@svc/contract';
import { policyPart } from '@svc/decision';
import type { ApprovalRecord } from '@svc/store';
import type { LoggedDecision } from './decision-log';
import type { GovernanceDeps } from './governance-deps';
import { decodeCursor, pageLog } from './scan-log';
import { toListWindow } from './time-window';

/** Decisions about jobs of the caller's tenant, newest first. See docs/reference/governance.md#decisions. */
export async function listDecisions(
  deps: Pick<GovernanceDeps, 'decisionLog' | 'store' | 'clock' | 'events'>,
  { tenant }: Caller,
  { limit, cursor, ...query }: DecisionsQuery,
): Promise<{ items: DecisionItem[]; next_cursor: string }> {
  const startedMs = deps.clock.nowMs();
  const { topic, rule_id, agent_id, verdict } = query;
  const fits = (one: LoggedDecision) =>
    (topic === undefined || one.topic === topic) &&
    (rule_id === undefined || one.ruleId === rule_id) &&
    (agent_id === undefined || one.agentId === agent_id) &&
    (verdict === undefined || one.verdict === verdict);
  const range = { ...toListWindow(query, startedMs), ...(cursor !== undefined && { before: decodeCursor(cursor) }) };
  const { entries, nextCursor } = await pageLog(
    (part, count) => deps.decisionLog.decisions(tenant, part, count),
    range,
    fits,
    limit,
  );
  const approvals = await readApprovals(deps, entries);
  deps.events.decisionsQueried(verdict ?? 'any', (deps.clock.nowMs() - startedMs) / 1_000);
  return { items: entries.map((entry) => toItem(entry, approvals.get(entry.jobId))), next_cursor: nextCursor };
}

/** The approvals of held jobs as they are now; those of expired jobs are unknown. */
async function readApprovals(
  { store }: Pick<GovernanceDeps, 'store'>,
  decisions: readonly LoggedDecision[],
): Promise<ReadonlyMap<string, ApprovalRecord>> {
  const held = [
    ...new Set(decisions.filter(({ verdict }) => verdict === 'require_approval').map(({ jobId }) => jobId)),
  ];
  const texts = await Promise.all(held.map((id) => store.redis.hget(store.keys.job(id), 'approval')));
  return new Map(
    held.flatMap((id, i) => {
      const text = texts[i];
      return text ? [[id, JSON.parse(text) as ApprovalRecord] as const] : [];
    }),
  );
}

const toItem = (one: LoggedDecision, approval: ApprovalRecord | undefined): DecisionItem => ({
  job_id: one.jobId,
  topic: one.topic,
  matched_rule: one.ruleId,
  verdict: one.verdict,
  reason: one.reason,
  constraints: one.constraints ? (JSON.parse(one.constraints) as Record<string, unknown>) : null,
  approval_status: one.verdict === 'require_approval' ? (approval?.status ?? '') : '',
  approval_decision: one.verdict === 'require_approval' ? (approval?.decision ?? '') : '',
  agent_id: one.agentId,
  policy_version: policyPart(one.policyVersion),
  timestamp: new Date(one.atMs).toISOString(),
});
