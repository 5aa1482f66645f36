import { isGate, type Owner } from '@svc/contract';
import { needsOf, poolsFor, type RoutingNeeds } from '@svc/routing';
import { iso, type JobFacts, sinceMs, stageOf } from './job-facts';
import { blocked, type Look, notReached, passed } from './run-job-checks';
import { ruleOwner } from './check-policy';
import { whyNoPool, whyNoRoom, whyNoWorker } from './why-no-worker';

const needsFrom = ({ job }: JobFacts): RoutingNeeds => needsOf(job.topic, job.request.requires, job.request.labels);

/** What of routing is not asked any more, or never; undefined when it is. */
function settled(facts: JobFacts): Look | undefined {
  const { job } = facts;
  if (isGate(job.topic)) return passed('a gate is never given to a worker');
  switch (stageOf(job)) {
    case 'out':
      return passed(`it is with ${job.worker_id ?? 'a worker'} of ${job.pool ?? 'a pool'}`);
    case 'ended':
      return job.attempts > 0
        ? passed(`it was with ${job.worker_id ?? 'a worker'} of ${job.pool ?? 'a pool'}`)
        : notReached('it ended before it was given to a worker');
    default:
      return undefined;
  }
}

const waits = (facts: JobFacts) => ({
  since: iso(stageOf(facts.job) === 'waiting' ? (facts.job.waiting_since ?? 0) / 1_000 : sinceMs(facts)),
  clears_at: null,
});

/** Which pools may take it. See docs/reference/routing.md#selection. */
export function lookAtPool(facts: JobFacts): Look {
  const done = settled(facts);
  if (done) return done;
  const reason = whyNoPool(facts.pools, needsFrom(facts));
  if (reason) return blocked({ ...reason, ...waits(facts) });
  const found = poolsFor(facts.pools, needsFrom(facts));
  const names = 'pools' in found ? found.pools.map(({ name }) => name) : [];
  return passed(`${names.join(', ')} may take it`, { kind: 'pool', id: names.join(', ') });
}

/** Which workers could take it, load aside. */
export function lookAtWorkers(facts: JobFacts): Look {
  const { pools, workers, settings } = facts;
  const done = settled(facts);
  if (done) return done;
  const needs = needsFrom(facts);
  if (whyNoPool(pools, needs)) return notReached('no pool may take it');
  const reason = whyNoWorker(pools, needs, workers, settings);
  return reason ? blocked({ ...reason, ...waits(facts) }) : passed('there are workers that can take it');
}

/** Whether one of them has room. */
export function lookAtSlots(facts: JobFacts): Look {
  const { pools, workers, settings } = facts;
  const done = settled(facts);
  if (done) return done;
  const needs = needsFrom(facts);
  if (whyNoPool(pools, needs) ?? whyNoWorker(pools, needs, workers, settings)) return notReached('no worker can take it');
  const reason = whyNoRoom(pools, needs, workers, settings);
  return reason ? blocked({ ...reason, ...waits(facts) }) : passed('one of them has room');
} // prettier-ignore

/** What policy lets the tenant run at once. See docs/reference/routing.md#concurrency-limits. */
export function lookAtTenantLimit(facts: JobFacts): Look {
  const { job, standing } = facts;
  const done = settled(facts);
  if (done) return done;
  const cap = concurrencyCap(facts);
  if (cap === undefined) return passed('policy sets no limit on its tenant’s jobs at once');
  const owner: Owner = { ...ruleOwner(job.safety), value: cap };
  const { tenantInFlight: running } = standing;
  if (running < cap) return passed(`${running} of its tenant’s ${cap} jobs at once are running`, owner);
  return blocked({
    kind: 'tenant_limit',
    what: `its tenant has ${running} jobs running, and the rule’s max_concurrent_jobs is ${cap}`,
    owner,
    how: 'a job of the tenant must end, or the rule allow more',
    ...waits(facts),
  });
}

function concurrencyCap({ job }: JobFacts): number | undefined {
  const budgets = job.safety?.constraints?.['budgets'] as Record<string, unknown> | undefined;
  const value = budgets?.['max_concurrent_jobs'];
  return typeof value === 'number' && value > 0 ? value : undefined;
}

/** What the license lets run at once. */
export function lookAtLicenseLimit(facts: JobFacts): Look {
  const { standing, licenseCap } = facts;
  const done = settled(facts);
  if (done) return done;
  if (licenseCap <= 0) return passed('the license sets no limit on jobs at once');
  const owner: Owner = { kind: 'license', id: 'max_concurrent_jobs', value: licenseCap };
  if (standing.allInFlight < licenseCap) return passed(`the license allows ${licenseCap} jobs at once`, owner);
  const what = `the ${licenseCap} jobs that the license allows at once are running`;
  return blocked({ kind: 'license_limit', what, owner, how: 'one of them must end, or the license allow more', ...waits(facts) });
} // prettier-ignore

/** Who goes first. See docs/reference/routing.md#fairness. Of other tenants it is only told that they do. */
export function lookAtTurn(facts: JobFacts): Look {
  const { job, standing } = facts;
  const done = settled(facts);
  if (done) return done;
  const { lane } = standing;
  if (!lane) return notReached('it does not wait for a worker yet');
  const own = lane.ownBefore === 0 ? [] : [`${lane.ownBefore} of its own tenant’s jobs`];
  const before = [...own, ...(lane.hasOthersBefore ? ['jobs of other tenants'] : [])];
  if (before.length === 0) return passed('it is next to be given out');
  return blocked({
    kind: 'lane_turn',
    what: `${before.join(' and ')} are before it`,
    owner: { kind: 'queue', id: `lane ${job.topic}`, value: job.request.priority },
    how: 'by itself, as workers take jobs: by priority, tenants in turns, oldest first',
    ...waits(facts),
  });
}
