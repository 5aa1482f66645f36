import type { AnalyticsBody, AnalyticsView, Caller } from '@svc/contract';
import { analyseRules, type RuleHit } from '@svc/policy';
import { type JobSummary, type Store, toResolution } from '@svc/store';
import { decidedJobs, mapConcurrently, type Range, parseRange, timeRangeView } from './replay-jobs';

export interface AnalyticsDeps {
  store: Pick<Store, 'index' | 'jobs'>;
}

const MAX_JOBS = 1_000;
const atOnce = 32;
const decisionsOfJob = 50;

/**
 * Hits of each rule among the caller's newest 1000 jobs, and approvals of the jobs it held. A rule hits a job at most
 * once, however often the job was evaluated. See docs/reference/policy.md#replay.
 *
 * @throws invalid_body
 */
export async function analysePolicy(
  { store }: AnalyticsDeps,
  caller: Caller,
  { from, to, rule_filter }: AnalyticsBody,
): Promise<AnalyticsView> {
  const range = parseRange({ from, to });
  const found = await decidedJobs(store, caller.tenant, ({ safety }) => safety !== undefined, {
    fromMs: from,
    most: MAX_JOBS,
  });
  const hits = await mapConcurrently(found.jobs, atOnce, (job) => readHits(store, job, range));
  return { time_range: timeRangeView(range), ...analyseRules(hits.flat(), { ...range, ruleFilter: rule_filter }) };
}

async function readHits(
  { jobs }: Pick<Store, 'jobs'>,
  { id }: JobSummary,
  { fromMs, toMs }: Range,
): Promise<RuleHit[]> {
  const [job, decisions] = await Promise.all([jobs.load(id), jobs.decisions(id, decisionsOfJob)]);
  const approval = job?.approval;
  const isApproved = approval !== undefined && toResolution(approval) === 'approved';
  const approvedAtMs = isApproved && approval.resolved_at ? approval.resolved_at / 1_000 : undefined;
  const hits = new Map<string, RuleHit>();
  // Oldest first, so that a rule's first decision about the job counts, and a hold outweighs all others.
  for (const { rule_id: ruleId, decision, checked_at } of [...decisions].reverse()) {
    const decidedAtMs = checked_at / 1_000;
    const isHeld = decision === 'REQUIRE_APPROVAL';
    if (!ruleId || decidedAtMs < fromMs || decidedAtMs > toMs || (hits.has(ruleId) && !isHeld)) continue;
    if (hits.get(ruleId)?.isHeld) continue;
    hits.set(ruleId, { ruleId, decidedAtMs, isHeld, approvedAtMs: isHeld ? approvedAtMs : undefined });
  }
  return [...hits.values()];
}
