import type { TenantScope } from '@svc/contract';
import { isTerminal, jobStates, type JobEvent, type JobState } from '@svc/lifecycle';
import type { Redis } from 'ioredis';
import { type Acceptance, acceptanceHead, type AcceptOutcome } from './job.acceptance';
import { parsePlaced, type DispatchPlan } from './job.placement';
import { claimDocument, type Claimed, type ClaimRequest, parseClaimed, toFollowUp } from './job.claim';
import { agentFields, flattenJob, parseJob, type DecisionRecord, type JobRecord } from './job.record';
import {
  type MoveExtras,
  type MoveOutcome,
  type NoteConditions,
  type QueueEntry,
  readMove,
  type Retention,
  toRetain,
} from './job.transition';
import type { Keys } from './keys';
import { Fenced } from './lease';
import { luaJson } from './lua-json';
import { auditKept } from './policy.repository';
import { runScript, runScriptWith } from './scripts';

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
  | { kind: 'missing' }
  /** An agent of the job is no longer as it was checked. */
  | { kind: 'agent_changed' };

/** A transition in the history of a job; `at` in µs, no `from` on creation. */
export interface JobHistoryEntry {
  event: string;
  from?: JobState;
  to: JobState;
  at: number;
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
      ...agentFields(a.set),
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
      case 'agent_changed':
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
