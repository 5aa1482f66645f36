import type { TenantScope } from '@svc/contract';
import { isTerminal, jobStates, type JobEvent, type JobState } from '@svc/lifecycle';
import type { Redis } from 'ioredis';
import { parsePlaced, placementDocument, type DispatchPlan, type Placed, type Placement } from './job.placement';
import { claimDocument, type Claimed, type ClaimRequest, type EndClaim, parseClaimed, toFollowUp } from './job.claim';
import { flattenJob, parseJob, type DecisionRecord, type JobRecord } from './job.record';
import type { Keys } from './keys';
import { Fenced, type Fence } from './lease';
import { luaJson } from './lua-json';
import { auditKept } from './policy.repository';
import { runScript, runScriptWith } from './scripts';

/** Queues in which a job can be parked, by their key in queues.config.ts. */
export type ParkingQueue = 'jobWaiting' | 'jobApprovals' | 'jobRunning';

export interface QueueEntry {
  queue: 'jobs' | 'outputScan';
  /** Makes the entry id unique among those of the job. */
  suffix: string;
  delay_ms?: number;
  priority?: number;
  payload?: string;
}

export interface DeadLetterWrite {
  /** The entry, JSON. */
  body: string;
  ttl_sec: number;
  topic: string;
  reason: string;
}

/** Effects applied atomically with a state transition. */
export interface MoveExtras {
  set?: Partial<JobRecord>;
  unset?: (keyof JobRecord)[];
  /** Queue in which the job is then parked, and the maximum time. */
  park?: { queue: ParkingQueue; forMs: number };
  queueEntries?: QueueEntry[];
  deadLetter?: DeadLetterWrite;
  /** Pending publish, performed after the write. */
  intent?: string;
  /** Restricts the allowed source states further. */
  from?: readonly JobState[];
  /** Required current dispatch. */
  dispatchId?: string;
  /** Required assigned worker. */
  holder?: string;
  /** Start of the current dispatch, µs: if the job is still DISPATCHED, the history records that it was RUNNING from then. */
  startedAt?: number;
  /** Fields that must be as they were read; '' = absent. */
  guard?: Record<string, string>;
  decision?: DecisionRecord;
  /** Event (JSON) for the run of the job, delivered before the completion event if this ends the job. */
  post?: string;
  /** Entry (JSON) for the policy audit of the job's tenant. */
  audit?: string;
  /** Body of the result, to store under its usual key by the same call. */
  resultBody?: Buffer;
  /** A claim for the slot that this transition frees. It is made even when the transition is refused. */
  claim?: EndClaim;
}

/** Conditions for writing facts about a job, and additional effects. */
export interface NoteConditions {
  states: readonly JobState[];
  holder?: string;
  dispatchId?: string;
  /** Fields that must be as they were read; '' = absent. */
  guard?: Record<string, string>;
  /** Event (JSON) for the run of the job. */
  post?: string;
  /** Report of the worker (JSON) for the log of the job. */
  event?: string;
  deadLetter?: DeadLetterWrite;
}

export type MoveOutcome =
  | { kind: 'moved'; from: JobState; state: JobState; atUs: number }
  | { kind: 'refused'; state: JobState }
  | { kind: 'stale' }
  | { kind: 'changed' }
  | { kind: 'other_tenant' }
  | { kind: 'missing' };

/** A memory named by a job or run. */
export interface MemoryClaim {
  id: string;
  /** Shared among tenants by the installation, without an owner. */
  shared: boolean;
}

export interface Acceptance {
  id: string;
  tenant: string;
  traceId: string;
  topic: string;
  fields: Partial<JobRecord>;
  context: string;
  decision?: DecisionRecord;
  priority: number;
  /** Cost of a turn of its tenant among undecided jobs: 1, or less for a tenant of higher weight. Default 1. */
  turnCost?: number;
  /** The id was generated, so it cannot exist. */
  isNew?: boolean;
  /** Internal keys have a separate namespace, so that clients cannot reserve them. */
  idempotency?: { key: string; hash: string; answer: string; ttlSec: number; isInternal?: boolean };
  /** Rejects the job unless the caller holds the lock of its run, so that a stale engine creates no jobs. */
  fence?: Fence;
  /** Maximum number of open jobs of the tenant; 0 = no limit. */
  activeLimit: number;
  /** The memory it names, assigned to the tenant on first use. Absent for the job's own and its run's own. */
  memory?: MemoryClaim;
  /** A transition applied on creation: held or denied. */
  next?: { event: 'hold' | 'deny'; extras: MoveExtras };
  /** For a job that its decision permits; absent: the scheduler decides and places it. */
  place?: Placement;
}

export type AcceptOutcome =
  /** `cancelled`: jobs that its limits ended, with messages to publish. */
  | { kind: 'accepted'; atUs: number; placed: Placed; cancelled?: readonly string[] }
  /** Another job of its singleton key is open. */
  | { kind: 'singleton'; jobId: string; traceId: string }
  | { kind: 'replay'; answer: string }
  | { kind: 'conflict' }
  | { kind: 'backpressure'; active: number }
  | { kind: 'exists' }
  /** Another tenant owns its memory. */
  | { kind: 'memory_taken' };

export interface Admission extends DispatchPlan {
  /** Repeats a dispatch whose publish failed; not counted as another attempt. */
  isRepeat?: boolean;
  set: Partial<JobRecord>;
  decision?: DecisionRecord;
}

export type AdmitOutcome =
  | { kind: 'dispatched'; attempt: number; cancelled?: readonly string[] }
  | { kind: 'waiting'; reason: string; cancelled?: readonly string[] }
  | { kind: 'refused'; state: JobState; cancelled?: readonly string[] }
  | { kind: 'missing' };

/** A transition in the history of a job; `at` in µs, no `from` on creation. */
export interface JobHistoryEntry {
  event: string;
  from?: JobState;
  to: JobState;
  at: number;
}

export interface Retention {
  metaSec: number;
  dataSec: number;
}

/** Reads a record. Concurrent reads are sent to Redis together. */
export async function loadJob(redis: Redis, keys: Keys, id: string): Promise<JobRecord | undefined> {
  return parseJob(await redis.hgetall(keys.job(id)));
}

const splitLines = (text: string | null): string[] => (text ?? '').split('\n').filter((line) => line !== '');

/** Parses the `history` of a job record: oldest first. */
export const parseHistory = (text: string | null): JobHistoryEntry[] =>
  splitLines(text).map((line) => {
    const [event = '', from = '', to = '', at = ''] = line.split(' ');
    return { event, ...(from && { from: from as JobState }), to: to as JobState, at: Number(at) };
  });

const openStates = jobStates.states.filter((state) => !isTerminal(state));

const ENDS_AWAITED_SEC = 60;
const ANNOUNCE_WAIT_MS = 20_000;

const toRetain = ({ metaSec, dataSec }: Retention) => ({ meta_sec: metaSec, data_sec: dataSec });

/** The acceptance without the fields and the decision of the record. @param next the transition on creation, as for `move_job()` */
const acceptanceHead = (a: Acceptance, retention: Retention, next?: object): object => ({
  id: a.id,
  tenant: a.tenant,
  trace_id: a.traceId,
  topic: a.topic,
  meta_sec: retention.metaSec,
  priority: a.priority,
  ...(a.turnCost !== undefined && a.turnCost !== 1 && { turn_cost: a.turnCost }),
  active_limit: a.activeLimit,
  queue: 'submit',
  ...(a.idempotency && {
    idempotency: {
      key: a.idempotency.key,
      hash: a.idempotency.hash,
      answer: a.idempotency.answer,
      ttl_sec: a.idempotency.ttlSec,
      ...(a.idempotency.isInternal && { internal: true }),
    },
  }),
  ...(a.isNew && { is_new: true }),
  ...(a.fence && { fence: a.fence }),
  ...(a.memory && { memory: a.memory }),
  ...(a.fields.run_path !== undefined && { run: a.fields.run, run_path: a.fields.run_path }),
  ...(next && { next }),
  ...(a.fields.request?.limits && { limits: a.fields.request.limits, retain: toRetain(retention) }),
  ...(a.place && { place: placementDocument(a.place, toRetain(retention)) }),
});

/** The acceptance as `accept_job()` expects it. */
export const acceptanceDocument = (a: Acceptance, retention: Retention): object => ({
  ...acceptanceHead(a, retention),
  fields: flattenJob(a.fields),
  ...(a.decision && { decision: JSON.stringify(a.decision) }),
});

/** Job records in Redis. Each method is one round trip and makes no policy decisions. */
export class JobRepository {
  private waitAnnouncedMs = -Infinity;

  constructor(
    private readonly redis: Redis,
    private readonly keys: Keys,
    private readonly retention: Retention,
  ) {}

  private get retain() {
    return toRetain(this.retention);
  }

  /** Without the fields that it sets. */
  private moveDocument(scope: TenantScope, event: JobEvent, extras: MoveExtras): object {
    const { from: allowed, to } = jobStates.moves[event];
    const { from: wanted, unset, park, queueEntries, deadLetter, intent } = extras;
    const { dispatchId, holder, startedAt, guard, post, audit } = extras;
    return {
      event,
      from: wanted ? allowed.filter((state) => wanted.includes(state)) : allowed,
      to,
      scope,
      retain: this.retain,
      ...(unset && { unset }),
      ...(park && { park: park.queue, park_ms: park.forMs }),
      ...(queueEntries && { queue_entries: queueEntries }),
      ...(deadLetter && { dead_letter: deadLetter }),
      ...(intent && { intent }),
      ...(dispatchId && { dispatch_id: dispatchId }),
      ...(holder && { holder }),
      ...(startedAt !== undefined && { started_at: String(startedAt) }),
      ...(guard && { guard }),
      ...(post && { post }),
      ...(audit && { audit: { entry: audit, keep: auditKept } }),
    };
  }

  /**
   * One atomic write: the record, its context, its indexes, its idempotency key and its queue entry.
   *
   * @throws Fenced
   */
  async accept(a: Acceptance): Promise<AcceptOutcome> {
    const next = a.next && {
      ...this.moveDocument(a.tenant, a.next.event, a.next.extras),
      set: flattenJob(a.next.extras.set ?? {}),
    };
    const document = acceptanceHead(a, this.retention, next);
    const decision = a.decision ? JSON.stringify(a.decision) : '';
    const args = [luaJson(document), a.context, decision, ...flattenJob(a.fields)];
    const reply = await runScript(this.redis, 'accept', this.keys.job(a.id), ...args);
    const [kind, detail = '', position = '', more = '', ...cancelled] = reply as [
      AcceptOutcome['kind'] | 'fenced',
      ...string[],
    ];
    switch (kind) {
      case 'fenced':
        throw new Fenced();
      case 'accepted':
        return { kind, atUs: Number(detail), placed: parsePlaced(position, more), ...toCancelled(cancelled) };
      case 'singleton':
        return { kind, jobId: detail, traceId: position };
      case 'replay':
        return { kind, answer: detail };
      case 'backpressure':
        return { kind, active: Number(detail) };
      default:
        return { kind };
    }
  }

  /** Compare-and-set state transition. Safe to repeat: the second call is refused. */
  async move(scope: TenantScope, id: string, event: JobEvent, extras: MoveExtras = {}): Promise<MoveOutcome> {
    const document = luaJson(this.moveDocument(scope, event, extras));
    const decision = extras.decision ? JSON.stringify(extras.decision) : '';
    const followUp = extras.claim && toFollowUp(extras.claim, this.keys.lanes(), this.retain);
    const args = [id, document, decision, extras.resultBody ?? '', ...flattenJob(extras.set ?? {})];
    return readMove(await runScriptWith(this.redis, followUp, 'move', this.keys.job(id), ...args), event);
  }

  /** Dispatches an allowed job to the proposed worker, or adds it to its lane. */
  async admit(id: string, a: Admission): Promise<AdmitOutcome> {
    const document = {
      from: jobStates.moves.dispatch.from,
      retain: this.retain,
      lane: a.lane,
      ...(a.worker && { worker: a.worker }),
      dispatch_id: a.dispatchId,
      repeated: a.isRepeat ? 1 : 0,
      reason: a.reason,
      run_ms: a.runMs,
      deadline_ms: a.deadlineMs,
      tenant_cap: a.tenantCap,
      turn_cost: a.turnCost ?? 1,
      license_cap: a.licenseCap,
      wait_ms: a.waitMs,
      set: flattenJob(a.set),
    };
    const decision = a.decision ? JSON.stringify(a.decision) : '';
    const reply = await runScript(this.redis, 'admit', this.keys.job(id), id, luaJson(document), decision);
    const [kind, detail = '', ...cancelled] = reply as [AdmitOutcome['kind'], ...string[]];
    switch (kind) {
      case 'dispatched':
        return { kind, attempt: Number(detail), ...toCancelled(cancelled) };
      case 'waiting':
        return { kind, reason: detail, ...toCancelled(cancelled) };
      case 'refused':
        return { kind, state: detail as JobState, ...toCancelled(cancelled) };
      case 'missing':
        return { kind };
    }
  }

  /**
   * Dispatches waiting jobs to a worker, at most one per dispatch id.
   *
   * @returns their records after the dispatch
   */
  async claim(request: ClaimRequest): Promise<Claimed> {
    const document = luaJson(claimDocument(request, this.retain));
    return parseClaimed(await runScript(this.redis, 'claim', this.keys.lanes(), document));
  }

  /**
   * Writes facts without a state transition, such as progress, if the conditions hold.
   *
   * @param entry a delayed queue entry that is no longer needed; removed even if the conditions fail
   */
  async note(id: string, where: NoteConditions, fields: Partial<JobRecord>, entry?: QueueEntry): Promise<boolean> {
    const { states, holder, dispatchId, guard, post, event, deadLetter } = where;
    const document = {
      states,
      set: flattenJob(fields),
      ...(holder && { holder }),
      ...(dispatchId && { dispatch_id: dispatchId }),
      ...(guard && { guard }),
      ...(post && { post }),
      ...(event && { event }),
      ...(deadLetter && { dead_letter: deadLetter }),
      ...(entry && { entry: { id, queue: entry.queue, suffix: entry.suffix } }),
    };
    const reply = await runScript(this.redis, 'note', this.keys.job(id), luaJson(document));
    return (reply as [string])[0] === 'noted';
  }

  /** Whether the job has a queue entry that will be processed, according to its record. */
  async hasQueueEntry(job: Pick<JobRecord, 'id' | 'parked' | 'lane'>): Promise<boolean> {
    return (await runScript(this.redis, 'hasQueueEntry', this.keys.job(job.id), job.id)) === 1;
  }

  /** Adds a queue entry for a job without one, unless the job was updated since it was read. */
  async requeue(job: Pick<JobRecord, 'id' | 'updated_at'>, suffix: string, priority: number): Promise<boolean> {
    const reply = await runScript(
      this.redis,
      'requeueJob',
      this.keys.job(job.id),
      job.id,
      job.updated_at,
      suffix,
      priority,
    );
    return (reply as [string])[0] === 'requeued';
  }

  /** Clears a published intent. A newer intent is kept. */
  async intentDone(id: string, intent: string): Promise<void> {
    await runScript(this.redis, 'intentDone', this.keys.job(id), id, intent);
  }

  /** A record for a process that acts for every tenant. */
  async load(id: string): Promise<JobRecord | undefined> {
    return loadJob(this.redis, this.keys, id);
  }

  /** A record for a caller. */
  async get(
    scope: TenantScope,
    id: string,
  ): Promise<{ kind: 'found'; job: JobRecord } | { kind: 'missing' } | { kind: 'other_tenant' }> {
    const job = await this.load(id);
    if (!job) return { kind: 'missing' };
    return scope === '*' || job.tenant === scope ? { kind: 'found', job } : { kind: 'other_tenant' };
  }

  /**
   * Has ends announced with details, which the caller is about to wait for. Writes to Redis at most every 20 s. Without it,
   * or when the write fails, ends are announced without.
   */
  async announceWait(): Promise<void> {
    const nowMs = performance.now();
    if (nowMs - this.waitAnnouncedMs < ANNOUNCE_WAIT_MS) return;
    this.waitAnnouncedMs = nowMs;
    await this.redis.set(this.keys.endsAwaited(), '1', 'EX', ENDS_AWAITED_SEC);
  }

  /** Newest first. */
  async decisions(id: string, limit: number): Promise<DecisionRecord[]> {
    const text = await this.redis.hget(this.keys.job(id), 'decisions');
    const rows = splitLines(text).reverse().slice(0, limit);
    return rows.map((row) => JSON.parse(row) as DecisionRecord);
  }

  /** All transitions, oldest first. */
  async events(id: string): Promise<JobHistoryEntry[]> {
    return parseHistory(await this.redis.hget(this.keys.job(id), 'history'));
  }

  /** The earlier request with this idempotency key, if any. */
  async reserved(tenant: string, key: string): Promise<{ hash: string; answer: string } | undefined> {
    const [hash, answer] = await this.redis.hmget(this.keys.idempotency(tenant, key), 'hash', 'answer');
    return hash ? { hash, answer: answer ?? '' } : undefined;
  }

  async activeCount(tenant: string): Promise<number> {
    const counting = this.redis.pipeline();
    for (const state of openStates) counting.zcard(this.keys.jobsInState(tenant, state));
    const counts = (await counting.exec()) ?? [];
    return counts.reduce((sum, [error, count]) => {
      if (error) throw error;
      return sum + Number(count);
    }, 0);
  }
}

const toCancelled = (ids: string[]) => (ids.length > 0 ? { cancelled: ids } : {});

function readMove(reply: unknown, event: JobEvent): MoveOutcome {
  const [kind, detail = '', at = ''] = reply as [MoveOutcome['kind'], string?, string?];
  switch (kind) {
    case 'moved':
      return { kind, from: detail as JobState, state: jobStates.moves[event].to, atUs: Number(at) };
    case 'refused':
      return { kind, state: detail as JobState };
    default:
      return { kind };
  }
}
