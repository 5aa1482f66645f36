import type { BreakerStatus } from '@svc/kernel-client';
import { isInFlight, isTerminal } from '@svc/lifecycle';
import type { PoolTable, RoutableWorker, TimeoutTable } from '@svc/routing';
import type { JobHistoryEntry, JobRecord, Standing } from '@svc/store';
import type { TopicFound } from '@svc/registry';

export interface ExplainSettings {
  policyFailMode: 'closed' | 'open';
  approvalTtlMs: number;
  readinessRequired: boolean;
  workerTtlMs: number;
}

/** A live worker in the shared picture, and when it was last heard. */
export interface SeenWorker extends RoutableWorker {
  lastHeardMs: number;
}

/** Everything that decides whether a job runs, as it was at one moment. Of other tenants it holds sums and presence only. */
export interface JobFacts {
  nowMs: number;
  job: JobRecord;
  /** Its moves, oldest first. */
  history: readonly JobHistoryEntry[];
  standing: Standing;
  /** Effective for its tenant and team. */
  config: Record<string, unknown> | undefined;
  pools: PoolTable;
  timeouts: TimeoutTable;
  topic: TopicFound;
  workers: readonly SeenWorker[];
  /** When a scheduler last wrote the picture of workers, unix ms; absent = never. */
  schedulerSeenMs?: number;
  /** Of the policy service; absent when its state could not be read. */
  breaker?: BreakerStatus;
  /** Jobs the license lets run at once; 0 or less = any number. */
  licenseCap: number;
  settings: ExplainSettings;
}

/**
 * How far a job has come: in the queue to be decided, held for a person, allowed and without a worker, with a worker, or at
 * its end.
 */
export type Stage = 'queued' | 'held' | 'waiting' | 'out' | 'ended';

export function stageOf({ state, lane }: Pick<JobRecord, 'state' | 'lane'>): Stage {
  if (isTerminal(state)) return 'ended';
  if (state === 'APPROVAL_REQUIRED') return 'held';
  if (isInFlight(state)) return 'out';
  return lane === '' ? 'queued' : 'waiting';
}

/** When it came into the state it is in, unix ms. */
export const sinceMs = ({ job, history }: Pick<JobFacts, 'job' | 'history'>): number =>
  (history.findLast(({ to }) => to === job.state)?.at ?? job.updated_at) / 1_000;

export const iso = (ms: number): string => new Date(Math.floor(ms)).toISOString();
