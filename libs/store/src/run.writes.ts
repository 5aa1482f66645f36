import type { Acceptance, MemoryClaim } from './job.acceptance';
import type { Placed } from './job.placement';
import type { RunEnd, RunStatus } from '@svc/lifecycle';
import type { Fence } from './lease';
import type { JsonObject, LiveRunStatus, RunTimer } from './run.record';

export interface RunCreation {
  id: string;
  tenant: string;
  workflow: { id: string; version: number };
  teamId?: string;
  status?: LiveRunStatus;
  header: JsonObject;
  /** Initial steps by path, such as those reused by a rerun. */
  steps?: ReadonlyMap<string, JsonObject>;
  events: readonly JsonObject[];
  /** `answer` is the response to a repeat. The key is scoped to tenant and workflow. */
  idempotency?: { key: string; hash: string; answer: string; ttlSec: number };
  /** Rejects the run unless the caller holds the lock of its parent run. */
  fence?: Fence;
  /** Parent run, to which its cost is also charged. */
  parentId?: string;
  /** The memory named by its input, assigned to the tenant on first use. */
  memory?: MemoryClaim;
  /** Budget of its jobs; micros, 0 = unlimited. */
  budget?: { limit: number; action: string };
  /** Maximum number of active runs of the tenant and of all tenants; 0 = no limit. */
  limits: { tenant: number; all: number };
  /** The first event of its inbox. */
  start: JsonObject;
  /** Display name in the board; the workflow id by default. */
  name?: string;
  /** Its first turn: the run is stored as the turn leaves it, and sleeps unless the turn continues. */
  turn?: FirstTurn;
}

/** What the first turn of a run adds to its record: nothing may remain to be done after the call. */
export interface FirstTurn {
  jobs: readonly SavedJob[];
  timers: readonly TimerWrite[];
  tree: readonly TreeChange[];
  /** The run has another turn, for the event `start`. */
  continues?: boolean;
}

/** `queue` is the queue of the entry that fires the timer. */
export type TimerWrite = RunTimer & { queue: string };

/** What the start of a run reads. */
export interface StartFacts {
  /** The newest version of the workflow. */
  version: { tenant: string; number: number; writtenAt: number; author: string };
  /** Time of the Redis clock. */
  nowUs: number;
  active: { tenant: number; all: number };
}

export type CreateOutcome =
  | { kind: 'created'; atUs: number; placed: (Placed | undefined)[] }
  /** It was not created: an operator has paused the queue of passes, and no turn may be taken. */
  | { kind: 'paused' }
  | { kind: 'replay'; answer: string }
  /** The key was used with another request. */
  | { kind: 'conflict' }
  /** The key is reserved without a recorded response. */
  | { kind: 'reserved' }
  | { kind: 'exists' }
  | { kind: 'no_workflow' }
  /** Another tenant owns its memory. */
  | { kind: 'memory_taken' }
  | { kind: 'full'; of: 'tenant' | 'all'; active: number };

/** The changes of a pass; absent fields are unchanged. */
export interface RunSave {
  id: string;
  /** Revision that was read. */
  revision: number;
  /** Owner of the run's lock (`keys.runLock`). */
  owner: string;
  /** Planned without the lock: saved only if no process holds it, and no effects of an earlier turn remain. */
  isUnlocked?: boolean;
  /** The engine that keeps the run in memory, which is notified when the run is woken. */
  home?: string;
  /** Idempotency token of this save. */
  token: string;
  status?: StatusChange;
  header?: JsonObject;
  /** Changed steps by path. */
  steps?: ReadonlyMap<string, JsonObject>;
  /** Paths of removed steps. */
  removed?: readonly string[];
  events?: readonly JsonObject[];
  /** A timer of the same member is replaced. */
  timers?: { set?: readonly TimerWrite[]; clear?: readonly string[] };
  /** Number of processed inbox events. */
  processedEvents?: number;
  /** Added to its inbox: the run has another turn. */
  post?: JsonObject;
  /** Jobs that the save accepts; a job that exists is kept. */
  jobs?: readonly SavedJob[];
  /** Effects remain to be applied; until the pass is closed, a pass that takes over must apply them. */
  acting?: boolean;
  /** No effects remain: with an empty inbox the run sleeps and the lock is released. */
  closes?: boolean;
  /** Changes of its view in Bull Board. */
  tree?: readonly TreeChange[];
  /** Failure reason, for the board. */
  reason?: string;
}

/** A job of a step that the save of the run accepts. It has the lock of the run, and checks no limits or idempotency keys. */
export type SavedJob = Omit<Acceptance, 'next' | 'memory' | 'idempotency' | 'fence'>;

/** A step or item that started or ended. */
export interface TreeChange {
  path: string;
  /** Parent step in the board; '' = the run. */
  parent: string;
  name: string;
  begins?: boolean;
  /** It had ended before: another iteration. */
  again?: boolean;
  /** Final status. */
  ends?: string;
  /** Failure reason; absent on success. */
  reason?: string;
}

/** The state at the start of a pass. */
export type OpenOutcome =
  | {
      kind: 'open';
      /** Time of the Redis clock, which all times of runs use. */
      nowUs: number;
      revision: number;
      status: RunStatus;
      hasEnded: boolean;
      /** An earlier pass was saved, but its effects may not have been applied. */
      acting: boolean;
      events: JsonObject[];
    }
  /** Another owner holds the lock. */
  | { kind: 'busy' }
  | { kind: 'missing' };

/** How a pass ends: `fenced` if the lock was lost, `more` if another pass follows immediately. */
export type CloseOutcome = 'asleep' | 'more' | 'gave_way' | 'paused' | 'fenced';

/** `requeued`: it had work but no queue entry; `checking`: it had no work and checks its jobs and timers after a long sleep. */
export type RequeueOutcome = 'queued' | 'asleep' | 'requeued' | 'checking' | 'missing';

export type PostOutcome =
  { kind: 'posted' } | { kind: 'ended'; status: RunStatus } | { kind: 'missing' } | { kind: 'other_tenant' };

export type FireOutcome = { kind: 'fired'; lateMs: number } | { kind: 'early'; leftMs: number } | { kind: 'gone' };

/** A status reachable by one or more transitions. An ended run is kept for `keepSec`, 0 = forever. */
export type StatusChange = { to: LiveRunStatus } | { to: RunEnd; keepSec: number };

export type SaveOutcome =
  | {
      kind: 'saved';
      revision: number;
      atUs: number;
      left: number;
      sleeps: boolean;
      /** Positions of the accepted jobs; undefined for a job that existed, and for all when the save was repeated. */
      placed: (Placed | undefined)[];
    }
  /** Another save happened since it was read. */
  | { kind: 'changed'; revision: number }
  /** The caller lost the lock and must stop. */
  | { kind: 'fenced' }
  /** It was planned without the lock, and another process owns the run, or effects of an earlier turn remain. */
  | { kind: 'busy' }
  /** The run has ended, or the status is not reachable. */
  | { kind: 'refused'; status: RunStatus }
  | { kind: 'missing' };

export type RemoveOutcome =
  | { kind: 'removed' }
  | { kind: 'missing' }
  | { kind: 'other_tenant' }
  | { kind: 'held' }
  | { kind: 'active'; status: RunStatus };
