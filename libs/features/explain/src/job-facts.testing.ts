import type { PoolTable } from '@svc/routing';
import { defaultTimeouts } from '@svc/routing';
import type { JobRecord, QueuePosition, StoredRequest } from '@svc/store';
import { plainJob } from '@svc/fixtures/decision';
import type { JobFacts, WorkerFacts } from './job-facts';

/** Noon of some day; all times are relative to it. */
export const nowMs = Date.UTC(2026, 10, 21, 12);
export const us = (secondsFromNow: number): number => (nowMs + secondsFromNow * 1_000) * 1_000;
export const at = (secondsFromNow: number): string => new Date(nowMs + secondsFromNow * 1_000).toISOString();

export const pools: PoolTable = {
  topics: { 'job.work': ['main', 'spare'], 'job.gpu': ['gpu'], 'job.closed': ['closed'], 'job.gone': [] },
  pools: {
    main: { name: 'main', requires: [], status: 'active', description: '' },
    spare: { name: 'spare', requires: [], status: 'draining', description: '' },
    gpu: { name: 'gpu', requires: ['cuda'], status: 'active', description: '' },
    closed: { name: 'closed', requires: [], status: 'inactive', description: '' },
  },
};

export const worker = (over: Partial<WorkerFacts> = {}): WorkerFacts => ({
  id: 'w1',
  pool: 'main',
  active: 0,
  maxParallel: 2,
  cpuLoad: 0,
  gpuLoad: 0,
  memoryLoad: 0,
  capabilities: [],
  labels: {},
  readyTopics: ['job.>'],
  announced: true,
  draining: false,
  lastHeartbeatMs: nowMs - 1_000,
  ...over,
});

export const entry = (over: Partial<QueuePosition['entry']> = {}): QueuePosition['entry'] => ({
  queue: 'jobs',
  at: 'taken',
  hasOthersBefore: false,
  isPaused: false,
  ...over,
});

interface Overrides {
  job?: Partial<JobRecord>;
  request?: Partial<StoredRequest>;
  position?: Partial<QueuePosition>;
  facts?: Partial<JobFacts>;
}

/** Facts of a job on `job.work` that a scheduler is processing, with no blocker. */
export const factsWith = ({ job, request, position, facts }: Overrides = {}): JobFacts => ({
  nowMs,
  job: plainJob({ topic: 'job.work', created_at: us(-60), updated_at: us(-30), ...job }, request),
  history: [{ event: 'submit', to: 'PENDING', at: us(-60) }],
  position: { entry: entry(), tenantInFlight: 0, allInFlight: 0, ...position },
  config: undefined,
  pools,
  timeouts: defaultTimeouts,
  topic: { kind: 'open' },
  workers: [worker()],
  schedulerSeenMs: nowMs - 2_000,
  breaker: { state: 'closed', failures: 0, fail_threshold: 3, cooldown_remaining_ms: 0 },
  licenseCap: 0,
  settings: { policyFailMode: 'closed', approvalTtlMs: 86_400_000, readinessRequired: false, workerTtlMs: 30_000 },
  ...facts,
});

/** The same, allowed and waiting in its lane. */
export const waitingWith = ({ job, position, ...rest }: Overrides = {}): JobFacts =>
  factsWith({
    job: {
      lane: 'job.work',
      parked: 'jobWaiting',
      waiting_reason: 'pool_overloaded',
      waiting_since: us(-20),
      safety: { decision: 'ALLOW', rule_id: 'the-rule', checked_at: us(-30), source: 'scheduler' },
      ...job,
    },
    position: {
      entry: entry({ queue: 'jobWaiting', at: 'delayed', dueMs: nowMs + 600_000 }),
      lane: { lane: 'job.work', level: 2, ownBefore: 0, hasOthersBefore: false, isOutOfTurn: false },
      ...position,
    },
    ...rest,
  });

/** The same, running on a worker. */
export const runningWith = ({ job, ...rest }: Overrides = {}): JobFacts =>
  factsWith({
    job: {
      state: 'RUNNING',
      parked: 'jobRunning',
      attempts: 1,
      worker_id: 'w1',
      pool: 'main',
      dispatched_at: us(-10),
      started_at: us(-10),
      run_ms: 900_000,
      ...job,
    },
    ...rest,
  });
