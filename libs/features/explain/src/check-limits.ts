import type { Owner } from '@svc/contract';
import type { LimitUsage } from '@svc/store';
import { iso, type JobFacts, getStage } from './job-facts';
import { blocked, type CheckResult, notReached, passed } from './run-job-checks';

/** Whether its limits by key let it run. See docs/reference/routing.md#limits-by-key. */
export function checkLimits(facts: JobFacts): CheckResult {
  const { job, limitUsage: usage } = facts;
  const { limits } = job.request;
  if (!limits) return passed('it names no limits by key');
  if (usage) return whyBlocked(facts, usage);
  const stage = getStage(job);
  if (stage === 'waiting' || stage === 'dispatched') return passed('its limits by key let it run');
  return stage === 'ended'
    ? passed('it no longer needs its limits by key')
    : notReached('policy has not allowed it yet');
}

function whyBlocked({ job }: JobFacts, { by, holders, held, ahead, dueMs }: LimitUsage): CheckResult {
  const { limits } = job.request;
  const key = limits?.[by]?.key ?? '';
  const owner: Owner = { kind: 'request', id: `${by}.key`, value: key };
  const known = {
    owner,
    since: iso((job.waiting_since ?? job.updated_at) / 1_000),
    clears_at: dueMs === undefined ? null : iso(dueMs),
  };
  if (by === 'debounce') {
    const what = `it starts when no newer job with the debounce key ${key} is submitted`;
    return blocked({ kind: 'debounce', what, how: 'automatically, unless a newer submission replaces it', ...known });
  }
  const names = holders.join(', ') + (held > holders.length ? ` and ${held - holders.length} more` : '');
  const others = ahead === 0 ? '' : `; ${ahead} jobs wait before it`;
  if (by === 'rate') {
    const what = `${held} of ${limits?.rate?.limit ?? 0} starts of the rate key ${key} are used, by ${names}${others}`;
    return blocked({ kind: 'rate_limit', what, how: 'automatically, when the oldest start is a period ago', ...known });
  }
  const what = `${held} of ${limits?.concurrency?.limit ?? 0} places of the concurrency key ${key} are held by ${names}${others}`;
  return blocked({ kind: 'concurrency_limit', what, how: 'one of these jobs must end', ...known });
}
