import { approvalGateTopic, type JobBlocker, type JobCheck, type Owner } from '@svc/contract';
import { limitCases } from './limit-blockers.testing';
import type { JobFacts } from './job-facts';
import { at, entry, factsWith, nowMs, runningWith, us, waitingWith, worker } from './job-facts.testing';

/** One blocker of a job, and its expected explanation. */
export interface BlockerCase {
  blocker: JobBlocker;
  name: string;
  facts: JobFacts;
  check: JobCheck;
  owner: Owner;
  clears?: string | null;
  what: RegExp;
}

const delayed = (dueInSec: number) => entry({ at: 'delayed', dueMs: nowMs + dueInSec * 1_000 });
const capped = { budgets: { max_concurrent_jobs: 2 } };
export const buildTopic = (status: 'active' | 'disabled'): JobFacts['topic'] => ({
  kind: 'registered',
  registration: { name: 'job.work', pool: 'main', requires: [], risk_tags: [], status },
});
const decided = (decision: 'ALLOW' | 'THROTTLE' | 'REQUIRE_APPROVAL') =>
  ({ decision, rule_id: 'the-rule', reason: 'because', checked_at: us(-5), source: 'scheduler' }) as const;

export const blockerCases: BlockerCase[] = [
  ...limitCases,
  {
    blocker: 'queue_paused',
    name: 'the queue is paused',
    facts: factsWith({ position: { entry: entry({ at: 'waiting', isPaused: true }) } }),
    check: 'queue',
    owner: { kind: 'queue', id: 'jobs', value: 'paused' },
    what: /paused/,
  },
  {
    blocker: 'no_scheduler',
    name: 'the worker snapshot is older than the worker TTL',
    facts: factsWith({ position: { entry: entry({ at: 'waiting' }) }, facts: { schedulerSeenMs: nowMs - 30_001 } }),
    check: 'queue',
    owner: { kind: 'service', id: 'scheduler' },
    what: /no scheduler/,
  },
  {
    blocker: 'no_scheduler',
    name: 'no scheduler dispatches waiting jobs',
    facts: waitingWith({ facts: { schedulerSeenMs: nowMs - 40_000 } }),
    check: 'queue',
    owner: { kind: 'service', id: 'scheduler' },
    what: /no scheduler/,
  },
  {
    blocker: 'unattended',
    name: 'its entry is lost',
    facts: factsWith({ position: { entry: entry({ at: 'absent' }) } }),
    check: 'queue',
    owner: { kind: 'setting', id: 'reconciler.scan_interval_seconds', value: 30 },
    what: /no queue entry/,
  },
  {
    blocker: 'unattended',
    name: 'its entry failed',
    facts: factsWith({ position: { entry: entry({ at: 'failed' }) } }),
    check: 'queue',
    owner: { kind: 'setting', id: 'reconciler.scan_interval_seconds', value: 30 },
    what: /failed for good/,
  },
  {
    blocker: 'queue_turn',
    name: 'other jobs are before it in the queue',
    facts: factsWith({ position: { entry: entry({ at: 'waiting', hasOthersBefore: true }) } }),
    check: 'queue',
    owner: { kind: 'queue', id: 'jobs', value: 'interactive' },
    what: /other jobs are before it/,
  },
  {
    blocker: 'retry_backoff',
    name: 'it waits for a retry',
    facts: factsWith({
      job: { state: 'RETRYING', attempts: 1, waiting_reason: 'retry after worker_failed', error_message: 'boom' },
      position: { entry: delayed(7) },
      facts: { config: { retry: { initial_backoff: '9s' } } },
    }),
    check: 'queue',
    owner: { kind: 'setting', id: 'retry.initial_backoff', value: '9s' },
    clears: at(7),
    what: /attempt 2, retry after worker_failed: boom/,
  },
  {
    blocker: 'preempted',
    name: 'it was preempted by a critical job',
    facts: factsWith({
      job: { state: 'RETRYING', waiting_reason: 'preempted by a critical job' },
      position: { entry: delayed(1) },
    }),
    check: 'queue',
    owner: { kind: 'setting', id: 'resources.preemption_enabled', value: true },
    clears: at(1),
    what: /preempted by/,
  },
  {
    blocker: 'dispatch_failed',
    name: 'its dispatch could not be published',
    facts: factsWith({ job: { state: 'SCHEDULED' }, position: { entry: delayed(3) } }),
    check: 'queue',
    owner: { kind: 'service', id: 'nats' },
    what: /could not be published/,
  },
  {
    blocker: 'scheduling_limit',
    name: 'it was dispatched too often',
    facts: factsWith({ job: { attempts: 51, preempted: 1 } }),
    check: 'scheduling_limit',
    owner: { kind: 'limit', id: 'scheduling attempts', value: 50 },
    what: /51 times/,
  },
  {
    blocker: 'topic_refused',
    name: 'its topic was disabled',
    facts: factsWith({ facts: { topic: buildTopic('disabled') } }),
    check: 'topic',
    owner: { kind: 'topic', id: 'job.work', value: 'disabled' },
    what: /job\.work is disabled/,
  },
  {
    blocker: 'topic_refused',
    name: 'its topic is not registered',
    facts: factsWith({ facts: { topic: { kind: 'unknown', known: [] } } }),
    check: 'topic',
    owner: { kind: 'topic', id: 'job.work', value: 'unknown' },
    what: /job\.work is unknown/,
  },
  {
    blocker: 'policy_unavailable',
    name: 'the circuit breaker of policy is open',
    facts: factsWith({
      facts: { breaker: { state: 'open', failures: 3, fail_threshold: 3, cooldown_remaining_ms: 12_000 } },
    }),
    check: 'policy_service',
    owner: { kind: 'breaker', id: 'input', value: 'open' },
    what: /policy failed 3 times; the circuit breaker is open for 12 s/,
  },
  {
    blocker: 'policy_unavailable',
    name: 'policy was unavailable, and the installation’s fail mode is closed',
    facts: factsWith({ job: { waiting_reason: 'safety_unavailable' }, position: { entry: delayed(4) } }),
    check: 'policy_service',
    owner: { kind: 'setting', id: 'POLICY_CHECK_FAIL_MODE', value: 'closed' },
    what: /was unavailable$/,
  },
  {
    blocker: 'policy_unavailable',
    name: 'policy was unavailable, and the tenant’s own fail mode is closed',
    facts: factsWith({
      job: { waiting_reason: 'safety_unavailable' },
      position: { entry: delayed(4) },
      facts: {
        config: { scheduler: { input_fail_mode: 'closed' } },
        settings: { ...factsWith().settings, policyFailMode: 'open' },
      },
    }),
    check: 'policy_service',
    owner: { kind: 'setting', id: 'scheduler.input_fail_mode', value: 'closed' },
    what: /was unavailable$/,
  },
  {
    blocker: 'throttled',
    name: 'a rule throttles it',
    facts: factsWith({
      job: { waiting_reason: 'throttled', safety: decided('THROTTLE') },
      position: { entry: delayed(20) },
    }),
    check: 'policy',
    owner: { kind: 'policy_rule', id: 'the-rule', value: 'THROTTLE' },
    clears: at(20),
    what: /throttles it: because/,
  },
  {
    blocker: 'budget',
    name: 'its tenant exceeded the daily budget',
    facts: factsWith({
      job: {
        waiting_reason: 'budget',
        over_budget: {
          limit: 'daily_limit_usd',
          of: 'tenant acme',
          amount: 10_000_000,
          spent: 10_500_000,
          reserved: 0,
          ends_ms: Date.parse(at(3_600)),
        },
      },
      position: { entry: delayed(20) },
    }),
    check: 'budget',
    owner: { kind: 'setting', id: 'budget.daily_limit_usd', value: 10 },
    clears: at(3_600),
    what: /budget.daily_limit_usd of tenant acme is \$10: \$10.5 spent/,
  },
  {
    blocker: 'approval',
    name: 'a rule requires approval',
    facts: factsWith({ job: { state: 'APPROVAL_REQUIRED', safety: decided('REQUIRE_APPROVAL') } }),
    check: 'approval',
    owner: { kind: 'policy_rule', id: 'the-rule', value: 'REQUIRE_APPROVAL' },
    what: /a person must approve it: because/,
  },
  {
    blocker: 'approval',
    name: 'an approval step of a run requires approval',
    facts: factsWith({
      job: { state: 'APPROVAL_REQUIRED', topic: approvalGateTopic },
      request: { step_id: 'sign', run_id: 'r1' },
    }),
    check: 'approval',
    owner: { kind: 'gate', id: 'sign' },
    what: /the gate sign/,
  },
  {
    blocker: 'approval',
    name: 'an approval step requires several people',
    facts: factsWith({
      job: {
        state: 'APPROVAL_REQUIRED',
        topic: approvalGateTopic,
        approval: {
          status: 'pending',
          revision: 1,
          gate: { quorum: 2, exclude_starter: true, requester: 'ann' },
          answers: [{ by: 'bob', role: 'admin', at: 1, approved: true }],
        },
      },
      request: { step_id: 'sign' },
    }),
    check: 'approval',
    owner: { kind: 'gate', id: 'sign' },
    what: /has 1 of 2 approvals/,
  },
  {
    blocker: 'no_pool',
    name: 'no pool is mapped to its topic',
    facts: waitingWith({ job: { topic: 'job.nowhere' } }),
    check: 'pool',
    owner: { kind: 'setting', id: 'pools.yaml: topics.job.nowhere', value: [] },
    what: /no pool is mapped to topic job\.nowhere/,
  },
  {
    blocker: 'pool_closed',
    name: 'its pools accept no jobs',
    facts: waitingWith({ job: { topic: 'job.closed' } }),
    check: 'pool',
    owner: { kind: 'pool', id: 'closed', value: 'inactive' },
    what: /draining or inactive/,
  },
  {
    blocker: 'preferred_pool',
    name: 'its preferred pool is not among them',
    facts: waitingWith({ request: { labels: { preferred_pool: 'spare' } } }),
    check: 'pool',
    owner: { kind: 'request', id: 'labels.preferred_pool', value: 'spare' },
    what: /prefers, spare/,
  },
  {
    blocker: 'capability',
    name: 'no pool offers a required capability',
    facts: waitingWith({ request: { requires: ['Quantum'] } }),
    check: 'pool',
    owner: { kind: 'request', id: 'requires', value: ['quantum'] },
    what: /offers quantum/,
  },
  {
    blocker: 'no_workers',
    name: 'no worker of its pools is live',
    facts: waitingWith({ facts: { workers: [worker({ pool: 'gpu' })] } }),
    check: 'worker',
    owner: { kind: 'pool', id: 'main', value: 0 },
    what: /no worker of main is live/,
  },
  {
    blocker: 'workers_draining',
    name: 'all workers are draining',
    facts: waitingWith({ facts: { workers: [worker({ draining: true })] } }),
    check: 'worker',
    owner: { kind: 'pool', id: 'main' },
    what: /all 1 live worker of main .* draining/,
  },
  {
    blocker: 'workers_not_ready',
    name: 'no worker announced readiness',
    facts: waitingWith({
      facts: {
        workers: [worker({ readyTopics: ['job.other'] })],
        settings: { ...factsWith().settings, readinessRequired: true },
      },
    }),
    check: 'worker',
    owner: { kind: 'setting', id: 'WORKER_READINESS_REQUIRED', value: true },
    what: /ready for job\.work/,
  },
  {
    blocker: 'placement',
    name: 'no worker has the required labels',
    facts: waitingWith({ request: { labels: { 'placement.zone': 'north' } } }),
    check: 'worker',
    owner: { kind: 'request', id: 'placement.zone', value: ['north'] },
    what: /placement\.zone=north/,
  },
  {
    blocker: 'worker_capability',
    name: 'no worker declares what its pool requires',
    facts: waitingWith({ job: { topic: 'job.gpu' }, facts: { workers: [worker({ pool: 'gpu' })] } }),
    check: 'worker',
    owner: { kind: 'pool', id: 'gpu', value: ['cuda'] },
    what: /pool requires: cuda/,
  },
  {
    blocker: 'workers_full',
    name: 'every worker is full',
    facts: waitingWith({ facts: { workers: [worker({ active: 2 }), worker({ id: 'w2', draining: true })] } }),
    check: 'slots',
    owner: { kind: 'pool', id: 'main', value: 2 },
    what: /the 1 worker of main .* all 2 slots/,
  },
  {
    blocker: 'tenant_limit',
    name: 'its tenant is at the concurrency limit of a rule',
    facts: waitingWith({
      job: { safety: { ...decided('ALLOW'), constraints: capped } },
      position: { tenantInFlight: 2 },
    }),
    check: 'tenant_limit',
    owner: { kind: 'policy_rule', id: 'the-rule', value: 2 },
    what: /2 jobs running.* max_concurrent_jobs is 2/,
  },
  {
    blocker: 'license_limit',
    name: 'the license limit is reached',
    facts: waitingWith({ position: { allInFlight: 3 }, facts: { licenseCap: 3 } }),
    check: 'license_limit',
    owner: { kind: 'license', id: 'max_concurrent_jobs', value: 3 },
    what: /the 3 jobs that the license allows/,
  },
  {
    blocker: 'lane_turn',
    name: 'other jobs go first',
    facts: waitingWith({
      position: {
        lane: { lane: 'job.work', level: 2, ownBefore: 4, hasOthersBefore: true, isOutOfTurn: false },
      },
    }),
    check: 'turn',
    owner: { kind: 'queue', id: 'lane job.work', value: 'interactive' },
    what: /^4 of its own tenant’s jobs and jobs of other tenants are before it$/,
  },
  {
    blocker: 'dispatch_unconfirmed',
    name: 'its dispatch is unconfirmed',
    facts: runningWith({ job: { state: 'DISPATCHED', dispatched_at: us(-6) } }),
    check: 'dispatch',
    owner: { kind: 'service', id: 'nats' },
    what: /not confirmed its dispatch to w1/,
  },
  {
    blocker: 'worker_silent',
    name: 'its worker sends no heartbeats',
    facts: runningWith({
      job: { dispatched_at: us(-90) },
      facts: { workers: [worker({ lastHeartbeatMs: nowMs - 31_000 })] },
    }),
    check: 'result',
    owner: { kind: 'setting', id: 'WORKER_HEARTBEAT_TTL', value: '30s' },
    what: /w1 has sent no heartbeat since/,
  },
]; // prettier-ignore
