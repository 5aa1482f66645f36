import { isGate, type Owner } from '@svc/contract';
import { toRoutingNeeds, poolsFor, type RoutingNeeds } from '@svc/routing';
import { iso, type JobFacts, sinceMs, getStage } from './job-facts';
import { blocked, type CheckResult, notReached, passed } from './run-job-checks';
import { ruleOwner } from './check-policy';
import { whyNoPool, whyNoRoom, whyNoWorker } from './why-no-worker';

const getNeeds = ({ job }: JobFacts): RoutingNeeds =>
  toRoutingNeeds(job.topic, job.request.requires, job.request.labels);

/** The result for jobs that need no routing now; undefined for the others. */
function skipRouting(facts: JobFacts): CheckResult | undefined {
  const { job } = facts;
  if (isGate(job.topic)) return passed('an approval step is never dispatched to a worker');
  switch (getStage(job)) {
    case 'dispatched':
      return passed(`it is on ${job.worker_id ?? 'a worker'} of ${job.pool ?? 'a pool'}`);
    case 'ended':
      return job.attempts > 0
        ? passed(`it was on ${job.worker_id ?? 'a worker'} of ${job.pool ?? 'a pool'}`)
        : notReached('it ended before it was dispatched');
    default:
      return undefined;
  }
}

const waitFields = (facts: JobFacts) => ({
  since: iso(getStage(facts.job) === 'waiting' ? (facts.job.waiting_since ?? 0) / 1_000 : sinceMs(facts)),
  clears_at: null,
});

/** Whether a pool may run it. See docs/reference/routing.md#selection. */
export function checkPool(facts: JobFacts): CheckResult {
  const done = skipRouting(facts);
  if (done) return done;
  const reason = whyNoPool(facts.pools, getNeeds(facts));
  if (reason) return blocked({ ...reason, ...waitFields(facts) });
  const found = poolsFor(facts.pools, getNeeds(facts));
  const names = 'pools' in found ? found.pools.map(({ name }) => name) : [];
  return passed(`${names.join(', ')} may run it`, { kind: 'pool', id: names.join(', ') });
}

/** Whether a worker can run it, regardless of load. */
export function checkWorkers(facts: JobFacts): CheckResult {
  const { pools, workers, settings } = facts;
  const done = skipRouting(facts);
  if (done) return done;
  const needs = getNeeds(facts);
  if (whyNoPool(pools, needs)) return notReached('no pool may run it');
  const reason = whyNoWorker(pools, { ...needs, tenant: facts.job.tenant }, workers, settings);
  return reason ? blocked({ ...reason, ...waitFields(facts) }) : passed('there are workers that can run it');
}

/** Whether such a worker has a free slot. */
export function checkSlots(facts: JobFacts): CheckResult {
  const { pools, workers, settings } = facts;
  const done = skipRouting(facts);
  if (done) return done;
  const needs = { ...getNeeds(facts), tenant: facts.job.tenant };
  if (whyNoPool(pools, needs) ?? whyNoWorker(pools, needs, workers, settings)) return notReached('no worker can run it');
  const reason = whyNoRoom(pools, needs, workers, settings);
  return reason ? blocked({ ...reason, ...waitFields(facts) }) : passed('a worker has a free slot');
} // prettier-ignore

const suspended: CheckResult = blocked({
  kind: 'tenant_suspended',
  what: 'its tenant is suspended',
  owner: { kind: 'setting', id: 'tenant' },
  how: 'an administrator of the installation must resume the tenant',
  clears_at: null,
});

/** The concurrency limit that policy sets for the tenant. See docs/reference/routing.md#concurrency-limits. */
export function checkTenantLimit(facts: JobFacts): CheckResult {
  const { job, position } = facts;
  const done = skipRouting(facts);
  if (done) return done;
  if (job.waiting_reason === 'tenant_suspended') return suspended;
  const cap = concurrencyCap(facts);
  if (cap === undefined) return passed('policy sets no concurrency limit for its tenant');
  const owner: Owner = { ...ruleOwner(job.safety), value: cap };
  const { tenantInFlight: running } = position;
  if (running < cap) return passed(`${running} of at most ${cap} concurrent jobs of its tenant are running`, owner);
  return blocked({
    kind: 'tenant_limit',
    what: `its tenant has ${running} jobs running, and the rule’s max_concurrent_jobs is ${cap}`,
    owner,
    how: 'a job of the tenant must end, or the rule must allow more',
    ...waitFields(facts),
  });
}

function concurrencyCap({ job }: JobFacts): number | undefined {
  const budgets = job.safety?.constraints?.['budgets'] as Record<string, unknown> | undefined;
  const value = budgets?.['max_concurrent_jobs'];
  return typeof value === 'number' && value > 0 ? value : undefined;
}

/** The concurrency limit of the license. */
export function checkLicenseLimit(facts: JobFacts): CheckResult {
  const { position, licenseCap } = facts;
  const done = skipRouting(facts);
  if (done) return done;
  if (licenseCap <= 0) return passed('the license sets no concurrency limit');
  const owner: Owner = { kind: 'license', id: 'max_concurrent_jobs', value: licenseCap };
  if (position.allInFlight < licenseCap) return passed(`the license allows ${licenseCap} concurrent jobs`, owner);
  const what = `the ${licenseCap} jobs that the license allows concurrently are running`;
  return blocked({ kind: 'license_limit', what, owner, how: 'one of them must end, or the license must allow more', ...waitFields(facts) });
} // prettier-ignore

/** Its position in the lane. See docs/reference/routing.md#fairness. Of other tenants only the presence is disclosed. */
export function checkTurn(facts: JobFacts): CheckResult {
  const { job, position } = facts;
  const done = skipRouting(facts);
  if (done) return done;
  const { lane } = position;
  if (!lane) return notReached('it does not wait for a worker yet');
  const own = lane.ownBefore === 0 ? [] : [`${lane.ownBefore} of its own tenant’s jobs`];
  const before = [...own, ...(lane.hasOthersBefore ? ['jobs of other tenants'] : [])];
  if (before.length === 0) return passed('it is next to be dispatched');
  return blocked({
    kind: 'lane_turn',
    what: `${before.join(' and ')} are before it`,
    owner: { kind: 'queue', id: `lane ${job.topic}`, value: job.request.priority },
    how: 'automatically, as workers take jobs: by priority, tenants in turn, oldest first',
    ...waitFields(facts),
  });
}
