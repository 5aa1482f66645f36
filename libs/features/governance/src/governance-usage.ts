import type { Caller, UsageGroup, UsageQuery, UsageView } from '@svc/contract';
import type { JobSummary } from '@svc/store';
import type { GovernanceDeps } from './governance-deps';
import { MAX_SCANNED } from './scan-log';
import { type TimeWindow, toWindow, toWindowView } from './time-window';
import { type CountedJob, groupUsage, sumUsage } from './usage-figures';

const keepMs = 60_000;
const pageSize = 200;

const keys: Readonly<Record<UsageGroup, (job: JobSummary) => string>> = {
  agent: ({ request }) => request.agent_id ?? '',
  team: ({ request }) => request.team_id ?? '',
  topic: ({ topic }) => topic,
};

/**
 * Cost and risk of the jobs of the caller's tenant, by agent, team or topic, cached for 60 s. Read from the records of the jobs,
 * so that no job writes more than it does. See docs/reference/governance.md#cost-and-risk.
 *
 * @throws invalid_body
 */
export async function governanceUsage(
  deps: Pick<GovernanceDeps, 'store' | 'clock' | 'cache'>,
  { tenant }: Caller,
  query: UsageQuery,
): Promise<UsageView> {
  const window = toWindow(query, deps.clock.nowMs());
  const { group_by, limit } = query;
  const key = ['usage', tenant, query.window, query.since, query.until, group_by, limit];
  return deps.cache.read(key, keepMs, async () => {
    const { jobs, isCut } = await readJobs(deps, tenant, window, keys[group_by]);
    return {
      window: toWindowView(window),
      total: sumUsage(jobs),
      groups: groupUsage(jobs, limit),
      truncated_at_max: isCut,
    };
  }).result;
}

/** Jobs that were submitted in the period, at most `MAX_SCANNED`. A job is found by its last change, which is not earlier. */
async function readJobs(
  { store }: Pick<GovernanceDeps, 'store'>,
  tenant: string,
  { fromMs, toMs }: TimeWindow,
  toKey: (job: JobSummary) => string,
): Promise<{ jobs: CountedJob[]; isCut: boolean }> {
  const jobs: CountedJob[] = [];
  let cursorUs: number | undefined;
  for (let scanned = 0; scanned < MAX_SCANNED; scanned += pageSize) {
    const page = await store.index.page(tenant, { afterUs: fromMs * 1_000 }, pageSize, cursorUs);
    const inPeriod = page.items.filter(
      (job) => job.created_at >= fromMs * 1_000 && job.created_at <= toMs * 1_000 + 999,
    );
    const costs = await Promise.all(inPeriod.map(({ id }) => store.redis.hget(store.keys.job(id), 'cost')));
    for (const [i, job] of inPeriod.entries()) {
      const isHeld = job.safety?.decision === 'REQUIRE_APPROVAL' || job.safety?.source === 'approval';
      jobs.push({ key: toKey(job), state: job.state, isHeld, costUsd: Number(costs[i] ?? 0) / 1e6 });
    }
    if (page.nextCursorUs === null) return { jobs, isCut: false };
    cursorUs = page.nextCursorUs;
  }
  return { jobs, isCut: true };
}
