import type { TenantScope } from '@svc/contract';
import type { RunEnd, RunStatus } from '@svc/lifecycle';
import type { Redis } from 'ioredis';
import { keys } from './keys';
import {
  jsonOf,
  liveRunStatuses,
  parseRun,
  statusesBefore,
  type JsonObject,
  type LiveRunStatus,
  type LoadedRun,
  type RunEntry,
  type RunRecord,
  type RunTimer,
} from './run.record';
import { runScript } from './scripts';

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
  /** Refuse when so many runs of the tenant, or of all, have not ended; 0 = no limit. */
  limits: { tenant: number; all: number };
  /** The entry that carries its first pass. */
  carry: RunEntry & { delayMs?: number };
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
  /** One of the same member is replaced. */
  timers?: { set?: readonly (RunEntry & RunTimer)[]; clear?: readonly string[] };
  /** Effects to carry out once this is written, by an id of their own, and ids of those that were. */
  outbox?: { add?: ReadonlyMap<string, JsonObject>; done?: readonly string[] };
  carry?: readonly (RunEntry & { delayMs?: number })[];
}

/** To where the run table leads, in one move or several. A run that ends is kept for `keepSec`, 0 = for ever. */
export type StatusChange = { to: LiveRunStatus } | { to: RunEnd; keepSec: number };

export type SaveOutcome =
  | { kind: 'saved'; revision: number; atUs: number }
  /** Somebody else saved since it was read. */
  | { kind: 'changed'; revision: number }
  /** The saver holds the lock no more: it must stop. */
  | { kind: 'fenced' }
  /** It has ended, or the run table does not lead from where it is to where the save wants it. */
  | { kind: 'refused'; status: RunStatus }
  | { kind: 'missing' };

export type RemoveOutcome =
  { kind: 'removed' } | { kind: 'missing' } | { kind: 'other_tenant' } | { kind: 'active'; status: RunStatus };

type Of<T> = { kind: 'found'; value: T } | { kind: 'missing' } | { kind: 'other_tenant' };

const written = (documents: ReadonlyMap<string, JsonObject> | undefined): string[] =>
  [...(documents ?? [])].flatMap(([name, document]) => [name, JSON.stringify(document)]);

const entryOf = ({ queue, name, payload, priority, delayMs }: RunEntry & { delayMs?: number }) => ({
  queue,
  ...(name && { name }),
  ...(payload && { payload }),
  ...(priority && { priority }),
  ...(delayMs && { delay_ms: Math.ceil(delayMs) }),
});

/** Runs in Redis: a header, a field for each step, timeline, timers and outbox. Each method is one round trip. */
export class RunRepository {
  constructor(private readonly redis: Redis) {}

  /** One atomic write: record, steps, first events, indexes, idempotency key and the queue entry of the first pass. */
  async create(run: RunCreation): Promise<CreateOutcome> {
    const { id, tenant, workflow, idempotency, limits, events } = run;
    const document = {
      id,
      tenant,
      workflow: workflow.id,
      version: workflow.version,
      team: run.teamId ?? '',
      status: run.status ?? 'pending',
      active: liveRunStatuses,
      ...(idempotency && {
        idempotency: {
          key: idempotencyKey(tenant, workflow.id, idempotency.key),
          hash: idempotency.hash,
          answer: idempotency.answer,
          ttl_sec: idempotency.ttlSec,
        },
      }),
      tenant_limit: limits.tenant,
      all_limit: limits.all,
      carry: entryOf(run.carry),
      steps: run.steps?.size ?? 0,
      events: events.length,
    };
    const reply = await runScript(
      this.redis,
      'createRun',
      keys.run(id),
      JSON.stringify(document),
      JSON.stringify(run.header),
      ...written(run.steps),
      ...events.map((event) => JSON.stringify(event)),
    );
    const [kind, detail = '', active = ''] = reply as [CreateOutcome['kind'], string?, string?];
    switch (kind) {
      case 'created':
        return { kind, atUs: Number(detail) };
      case 'replay':
        return { kind, answer: detail };
      case 'full':
        return { kind, of: detail === 'all' ? 'all' : 'tenant', active: Number(active) };
      default:
        return { kind };
    }
  }

  /** Compare-and-set on revision and lock, all or nothing. Safe to repeat with the same token. */
  async save(save: RunSave): Promise<SaveOutcome> {
    const { id, status, steps, events = [], timers, outbox } = save;
    const document = {
      id,
      owner: save.owner,
      token: save.token,
      revision: save.revision,
      active: liveRunStatuses,
      ...(status && {
        status: {
          from: statusesBefore(status.to),
          to: status.to,
          ...('keepSec' in status && { ends: status.keepSec }),
        },
      }),
      steps: steps?.size ?? 0,
      events: events.length,
      outbox: outbox?.add?.size ?? 0,
      removed: save.removed ?? [],
      done: outbox?.done ?? [],
      set: (timers?.set ?? []).map((timer) => ({ ...entryOf(timer), member: timer.member, due_ms: timer.dueMs })),
      clear: timers?.clear ?? [],
      carry: (save.carry ?? []).map(entryOf),
    };
    const reply = await runScript(
      this.redis,
      'saveRun',
      keys.run(id),
      keys.runLock(id),
      JSON.stringify(document),
      save.header ? JSON.stringify(save.header) : '',
      ...written(steps),
      ...events.map((event) => JSON.stringify(event)),
      ...written(outbox?.add),
    );
    const [kind, detail = '', at = ''] = reply as [SaveOutcome['kind'], string?, string?];
    switch (kind) {
      case 'saved':
        return { kind, revision: Number(detail), atUs: Number(at) };
      case 'changed':
        return { kind, revision: Number(detail) };
      case 'refused':
        return { kind, status: detail as RunStatus };
      default:
        return { kind };
    }
  }

  /** Everything a pass needs, read at one moment. */
  async load(id: string): Promise<LoadedRun | undefined> {
    const reading = this.redis.multi().hgetall(keys.run(id)).hgetall(keys.runSteps(id)).hgetall(keys.runOutbox(id));
    const [run = {}, steps = {}, outbox = {}] = ((await reading.exec()) ?? []).map(([error, reply]) => {
      if (error) throw error;
      return reply as Record<string, string>;
    });
    const record = parseRun(run);
    return (
      record && {
        run: record,
        steps: new Map(Object.entries(steps).map(([path, step]) => [path, jsonOf(step)])),
        outbox: Object.entries(outbox).map(([effectId, effect]) => ({ id: effectId, effect: jsonOf(effect) })),
      }
    );
  }

  /** A run with its steps, for a caller. */
  async get(scope: TenantScope, id: string): Promise<Of<LoadedRun>> {
    const loaded = await this.load(id);
    return seenBy(scope, loaded, loaded?.run.tenant);
  }

  /** A run without its steps, for a caller. */
  async head(scope: TenantScope, id: string): Promise<Of<RunRecord>> {
    const run = await this.header(id);
    return seenBy(scope, run, run?.tenant);
  }

  /** A run without its steps, for a process that acts for every tenant. */
  async header(id: string): Promise<RunRecord | undefined> {
    return parseRun(await this.redis.hgetall(keys.run(id)));
  }

  /** Tells whether what a process remembers of a run still holds; undefined when the run is gone. */
  async revision(id: string): Promise<number | undefined> {
    const revision = await this.redis.hget(keys.run(id), 'revision');
    return revision === null ? undefined : Number(revision);
  }

  /** Oldest first, of the last 1000. Engine contract B10. */
  async timeline(id: string, limit: number): Promise<JsonObject[]> {
    const events = await this.redis.lrange(keys.runTimeline(id), 0, limit - 1);
    return events.map(jsonOf);
  }

  /** Timers that have not fired, the next one first. */
  async timers(id: string): Promise<RunTimer[]> {
    const timers = Object.entries(await this.redis.hgetall(keys.runTimers(id)));
    return timers
      .map(([member, timer]) => ({ member, dueMs: Number((JSON.parse(timer) as [string])[0]) }))
      .sort((a, b) => a.dueMs - b.dueMs);
  }

  /** Notes effects as carried out; returns how many are left. Needs no lock and works after the run's end. */
  async outboxDone(id: string, effectIds: readonly string[]): Promise<number> {
    return Number(await runScript(this.redis, 'outboxDone', keys.runOutbox(id), id, ...effectIds));
  }

  /** Removes a run that has ended. Its idempotency key stays, so that a repeat cannot start it anew. */
  async remove(scope: TenantScope, id: string): Promise<RemoveOutcome> {
    const reply = await runScript(this.redis, 'removeRun', keys.run(id), id, scope);
    const [kind, status] = reply as [RemoveOutcome['kind'], RunStatus];
    return kind === 'active' ? { kind, status } : { kind };
  }

  /** What an earlier start of a workflow with this idempotency key was, if any. */
  async reserved(
    tenant: string,
    workflowId: string,
    key: string,
  ): Promise<{ hash: string; answer: string } | undefined> {
    const [hash, answer] = await this.redis.hmget(idempotencyKey(tenant, workflowId, key), 'hash', 'answer');
    return hash ? { hash, answer: answer ?? '' } : undefined;
  }
}

function seenBy<T>(scope: TenantScope, value: T | undefined, tenant: string | undefined): Of<T> {
  if (value === undefined) return { kind: 'missing' };
  return scope === '*' || scope === tenant ? { kind: 'found', value } : { kind: 'other_tenant' };
}

/** The workflow's id may hold what parts the key; half a surrogate pair is no text to Lua's JSON. */
function idempotencyKey(tenant: string, workflowId: string, key: string): string {
  const workflow = workflowId.replaceAll('%', '%25').replaceAll(':', '%3A');
  return Buffer.from(keys.runIdempotency(tenant, workflow, key)).toString();
}
