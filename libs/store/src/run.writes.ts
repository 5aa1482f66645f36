import type { MemoryClaim } from './job.repository';
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
  /** Steps that are there from the start, such as those a rerun takes over; by path. */
  steps?: ReadonlyMap<string, JsonObject>;
  events: readonly JsonObject[];
  /** `answer` is what a repeat is answered with. The key holds for the tenant and workflow. */
  idempotency?: { key: string; hash: string; answer: string; ttlSec: number };
  /** Refuse unless who asks for it has the run that it is part of. */
  fence?: Fence;
  /** Run that started it: what it costs counts there too. */
  parentId?: string;
  /** The memory its input names; the first use makes it the tenant's. */
  memory?: MemoryClaim;
  /** What its jobs may cost together; micros, 0 = any amount. */
  budget?: { limit: number; action: string };
  /** Refuse when so many runs of the tenant, or of all, have not ended; 0 = no limit. */
  limits: { tenant: number; all: number };
  /** What its inbox begins with: the event of its first pass. */
  start: JsonObject;
  /** What the board calls it; the workflow's id when absent. */
  name?: string;
}

export type CreateOutcome =
  | { kind: 'created'; atUs: number }
  | { kind: 'replay'; answer: string }
  /** The key came with another request before. */
  | { kind: 'conflict' }
  /** The key is reserved and nothing is recorded under it. */
  | { kind: 'reserved' }
  | { kind: 'exists' }
  | { kind: 'no_workflow' }
  /** Its memory belongs to another tenant. */
  | { kind: 'memory_taken' }
  | { kind: 'full'; of: 'tenant' | 'all'; active: number };

/** What one pass changed; whatever is absent stays as it is. */
export interface RunSave {
  id: string;
  /** As it was read. */
  revision: number;
  /** Who holds the run's lock (`keys.runLock`), as its lease has it. */
  owner: string;
  /** Names this save, so that repeating it changes nothing. */
  token: string;
  status?: StatusChange;
  header?: JsonObject;
  /** Those that changed, by path. */
  steps?: ReadonlyMap<string, JsonObject>;
  /** Paths of steps that are no more. */
  removed?: readonly string[];
  events?: readonly JsonObject[];
  /** Queue entries that fire them; one of the same member is replaced. */
  timers?: { set?: readonly (RunTimer & { queue: string })[]; clear?: readonly string[] };
  /** How many events of the inbox this deals with. */
  heard?: number;
  /** Things are to be done because of it: until the pass is closed, a pass that takes over must see to them. */
  acting?: boolean;
  /** Nothing is to be done because of it: with an empty inbox the run sleeps, and the lock is given back. */
  closes?: boolean;
  /** What operators see of it in Bull Board. */
  tree?: readonly TreeChange[];
  /** Why it failed, for the board. */
  reason?: string;
}

/** A step or item that began or ended. */
export interface TreeChange {
  path: string;
  /** Step or composite that it is shown under; '' = the run. */
  parent: string;
  name: string;
  begins?: boolean;
  /** It had ended before: a further round. */
  again?: boolean;
  /** How it ended, in a word. */
  ends?: string;
  /** Why it failed; absent when it did not. */
  reason?: string;
}

/** What a pass begins with. */
export type OpenOutcome =
  | {
      kind: 'open';
      /** By Redis' clock, which all times of runs are told by. */
      nowUs: number;
      revision: number;
      status: RunStatus;
      hasEnded: boolean;
      /** An earlier pass was saved and may not have done what it asked for. */
      acting: boolean;
      events: JsonObject[];
    }
  /** Somebody else holds the lock. */
  | { kind: 'busy' }
  | { kind: 'missing' };

/** How a pass ends: `fenced` when the lock was lost, `more` when another follows at once. */
export type CloseOutcome = 'asleep' | 'more' | 'gave_way' | 'paused' | 'fenced';

/** `woken`: it had something to do and no entry; `looks`: it had not, and was not looked after for long. */
export type RewakeOutcome = 'carried' | 'asleep' | 'woken' | 'looks' | 'missing';

export type PostOutcome =
  { kind: 'posted' } | { kind: 'ended'; status: RunStatus } | { kind: 'missing' } | { kind: 'other_tenant' };

export type FireOutcome = { kind: 'fired'; lateMs: number } | { kind: 'early'; leftMs: number } | { kind: 'gone' };

/** To where the run table leads, in one move or several. A run that ends is kept for `keepSec`, 0 = for ever. */
export type StatusChange = { to: LiveRunStatus } | { to: RunEnd; keepSec: number };

export type SaveOutcome =
  | { kind: 'saved'; revision: number; atUs: number; left: number; sleeps: boolean }
  /** Somebody else saved since it was read. */
  | { kind: 'changed'; revision: number }
  /** The saver holds the lock no more: it must stop. */
  | { kind: 'fenced' }
  /** It has ended, or the run table does not lead from where it is to where the save wants it. */
  | { kind: 'refused'; status: RunStatus }
  | { kind: 'missing' };

export type RemoveOutcome =
  { kind: 'removed' } | { kind: 'missing' } | { kind: 'other_tenant' } | { kind: 'active'; status: RunStatus };
