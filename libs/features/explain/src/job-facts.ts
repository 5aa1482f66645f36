import type { AgentCheck } from '@svc/agents';
import type { BreakerStatus } from '@svc/kernel-client';
import { isInFlight, isTerminal } from '@svc/lifecycle';
import type { PoolTable, RoutableWorker, TimeoutTable } from '@svc/routing';
import type { AgentRecord, JobHistoryEntry, JobRecord, LimitUsage, QueuePosition } from '@svc/store';
import type { TopicFound } from '@svc/registry';

export interface ExplainSettings {
  policyFailMode: 'closed' | 'open';
  approvalTtlMs: number;
  readinessRequired: boolean;
  workerTtlMs: number;
}

/** A live worker in the shared snapshot, with its last heartbeat. */
export interface WorkerFacts extends RoutableWorker {
  lastHeartbeatMs: number;
}

/** The agent of a job as it is now. */
export interface AgentFacts {
  /** Absent: its tenant has no such agent. */
  record?: AgentRecord;
  /** The outcome that a scheduler would get. */
  check: AgentCheck;
}

/** Snapshot of everything that decides whether a job runs. Of other tenants it has only totals and presence. */
export interface JobFacts {
  nowMs: number;
  job: JobRecord;
  /** Its state transitions, oldest first. */
  history: readonly JobHistoryEntry[];
  position: QueuePosition;
  /** Usage of the limit by key that it waits for; absent when it waits for none. */
  limitUsage?: LimitUsage;
  /** Effective for its tenant and team. */
  config: Record<string, unknown> | undefined;
  pools: PoolTable;
  timeouts: TimeoutTable;
  topic: TopicFound;
  /** Absent for a job without an agent. */
  agent?: AgentFacts;
  workers: readonly WorkerFacts[];
  /** When a scheduler last wrote the worker snapshot, unix ms; absent = never. */
  schedulerSeenMs?: number;
  /** Circuit breaker of the policy service; absent when its state is unreadable. */
  breaker?: BreakerStatus;
  /** Concurrent jobs that the license allows; 0 or less = unlimited. */
  licenseCap: number;
  settings: ExplainSettings;
}

/**
 * Progress of a job: queued for a decision, held for approval, waiting for a worker, dispatched, or ended.
 */
export type Stage = 'queued' | 'held' | 'waiting' | 'dispatched' | 'ended';

export function getStage({ state, lane, blocked }: Pick<JobRecord, 'state' | 'lane' | 'blocked'>): Stage {
  if (isTerminal(state)) return 'ended';
  if (state === 'APPROVAL_REQUIRED') return 'held';
  if (isInFlight(state)) return 'dispatched';
  return lane === '' && !blocked ? 'queued' : 'waiting';
}

/** When the job entered its current state, unix ms. */
export const sinceMs = ({ job, history }: Pick<JobFacts, 'job' | 'history'>): number =>
  (history.findLast(({ to }) => to === job.state)?.at ?? job.updated_at) / 1_000;

export const iso = (ms: number): string => new Date(Math.floor(ms)).toISOString();
