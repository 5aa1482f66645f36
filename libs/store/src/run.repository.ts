import type { TenantScope } from '@svc/contract';
import type { RunStatus } from '@svc/lifecycle';
import type { Redis } from 'ioredis';
import { parsePlaced, type Placed } from './job.placement';
import { acceptanceDocument } from './job.acceptance';
import type { Retention } from './job.transition';
import type { Keys } from './keys';
import { Fenced } from './lease';
import {
  parseJson,
  liveRunStatuses,
  parseRun,
  statusesBefore,
  type JsonObject,
  type LoadedRun,
  type RunRecord,
  type RunTimer,
} from './run.record';
import type {
  CloseOutcome,
  CreateOutcome,
  FireOutcome,
  OpenOutcome,
  PostOutcome,
  RequeueOutcome,
  RemoveOutcome,
  RunCreation,
  RunSave,
  SavedJob,
  SaveOutcome,
  StartFacts,
  TimerWrite,
} from './run.writes';
import { luaJson } from './lua-json';
import { runScript } from './scripts';

type FindResult<T> = { kind: 'found'; value: T } | { kind: 'missing' } | { kind: 'other_tenant' };

const writtenJobs = (jobs: readonly SavedJob[], retention: Retention): string[] =>
  jobs.flatMap((job) => [luaJson(acceptanceDocument(job, retention)), job.context]);

const timerDocument = ({ member, dueMs, queue }: TimerWrite) => ({ member, due_ms: dueMs, queue });

const written = (documents: ReadonlyMap<string, JsonObject> | undefined): string[] =>
  [...(documents ?? [])].flatMap(([name, document]) => [name, JSON.stringify(document)]);

/** Runs in Redis: header, steps, timeline, timers and inbox. Each method is one round trip. */
export class RunRepository {
  constructor(
    private readonly redis: Redis,
    private readonly keys: Keys,
    private readonly retention: Retention,
  ) {}

  /** What the start of a run of the newest version of a workflow needs, within a tenant scope. */
  async readStart(scope: TenantScope, workflowId: string): Promise<FindResult<StartFacts>> {
    const reply = await runScript(this.redis, 'readStart', this.keys.workflow(workflowId), ...liveRunStatuses);
    const [kind, tenant = '', version, writtenAt, author = '', nowUs, ofTenant, all] = reply as string[];
    const facts =
      kind !== 'found'
        ? undefined
        : {
            version: { tenant, number: Number(version), writtenAt: Number(writtenAt), author },
            nowUs: Number(nowUs),
            active: { tenant: Number(ofTenant), all: Number(all) },
          };
    return seenBy(scope, facts, tenant);
  }

  /** One atomic write: record, steps, first events, indexes, idempotency key, inbox and queue entry. @throws Fenced */
  async create(run: RunCreation): Promise<CreateOutcome> {
    const { id, tenant, workflow, idempotency, limits, events, turn } = run;
    const jobs = turn?.jobs ?? [];
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
          key: idempotencyKey(this.keys, tenant, workflow.id, idempotency.key),
          hash: idempotency.hash,
          answer: idempotency.answer,
          ttl_sec: idempotency.ttlSec,
        },
      }),
      ...(run.fence && { fence: run.fence }),
      ...(run.parentId && { parent: run.parentId }),
      ...(run.memory && { memory: run.memory }),
      ...(run.budget && { budget: run.budget }),
      tenant_limit: limits.tenant,
      all_limit: limits.all,
      name: run.name ?? workflow.id,
      steps: run.steps?.size ?? 0,
      events: events.length,
      ...(turn && {
        turn: {
          jobs: jobs.length,
          set: turn.timers.map(timerDocument),
          tree: turn.tree,
          ...(turn.continues && { continues: true }),
        },
      }),
    };
    const reply = await runScript(
      this.redis,
      'createRun',
      this.keys.run(id),
      luaJson(document),
      JSON.stringify(run.header),
      JSON.stringify(run.start),
      ...written(run.steps),
      ...events.map((event) => JSON.stringify(event)),
      ...writtenJobs(jobs, this.retention),
    );
    const [kind, detail = '', ...rest] = reply as [CreateOutcome['kind'] | 'fenced', string?, ...string[]];
    switch (kind) {
      case 'fenced':
        throw new Fenced();
      case 'created':
        return { kind, atUs: Number(detail), placed: toPlacedJobs(jobs, rest) };
      case 'replay':
        return { kind, answer: detail };
      case 'full':
        return { kind, of: detail === 'all' ? 'all' : 'tenant', active: Number(rest[0]) };
      default:
        return { kind };
    }
  }

  /** Compare-and-set on revision and lock, all or nothing. Idempotent for the same token. */
  async save(save: RunSave): Promise<SaveOutcome> {
    const { id, status, steps, events = [], timers, jobs = [] } = save;
    const document = {
      id,
      owner: save.owner,
      ...(save.isUnlocked && { unlocked: true }),
      ...(save.home !== undefined && { home: save.home }),
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
      removed: save.removed ?? [],
      processed: save.processedEvents ?? 0,
      ...(save.acting && { acting: true }),
      ...(save.closes && { closes: true }),
      set: (timers?.set ?? []).map(timerDocument),
      clear: timers?.clear ?? [],
      tree: save.tree ?? [],
      jobs: jobs.length,
      ...(save.reason !== undefined && { reason: save.reason }),
      ...(save.post && { post: JSON.stringify(save.post) }),
    };
    const reply = await runScript(
      this.redis,
      'saveRun',
      this.keys.run(id),
      this.keys.runLock(id),
      luaJson(document),
      save.header ? JSON.stringify(save.header) : '',
      ...written(steps),
      ...events.map((event) => JSON.stringify(event)),
      ...writtenJobs(jobs, this.retention),
    );
    const [kind, detail = '', at = '', left = 0, ...placed] = reply as [
      SaveOutcome['kind'],
      string?,
      string?,
      number?,
      ...string[],
    ];
    switch (kind) {
      case 'saved':
        return {
          kind,
          revision: Number(detail),
          atUs: Number(at),
          left: Math.max(0, left),
          sleeps: left < 0,
          placed: toPlacedJobs(jobs, placed),
        };
      case 'changed':
        return { kind, revision: Number(detail) };
      case 'refused':
        return { kind, status: detail as RunStatus };
      default:
        return { kind };
    }
  }

  /** Reads the data of a pass as one consistent snapshot. */
  async load(id: string): Promise<LoadedRun | undefined> {
    const reading = this.redis.multi().hgetall(this.keys.run(id)).hgetall(this.keys.runSteps(id));
    const [run = {}, steps = {}] = ((await reading.exec()) ?? []).map(([error, reply]) => {
      if (error) throw error;
      return reply as Record<string, string>;
    });
    const record = parseRun(run);
    return (
      record && {
        run: record,
        steps: new Map(Object.entries(steps).map(([path, step]) => [path, parseJson(step)])),
      }
    );
  }

  /** A run with its steps, within a tenant scope. */
  async get(scope: TenantScope, id: string): Promise<FindResult<LoadedRun>> {
    const loaded = await this.load(id);
    return seenBy(scope, loaded, loaded?.run.tenant);
  }

  /** A run without its steps, within a tenant scope. */
  async head(scope: TenantScope, id: string): Promise<FindResult<RunRecord>> {
    const run = await this.header(id);
    return seenBy(scope, run, run?.tenant);
  }

  /** Only the status, within a tenant scope. */
  async status(scope: TenantScope, id: string): Promise<FindResult<RunStatus>> {
    const [tenant, status] = await this.redis.hmget(this.keys.run(id), 'tenant', 'status');
    return seenBy(scope, status ? (status as RunStatus) : undefined, tenant ?? undefined);
  }

  /** A run without its steps, of any tenant. */
  async header(id: string): Promise<RunRecord | undefined> {
    return parseRun(await this.redis.hgetall(this.keys.run(id)));
  }

  /** A run with its steps but without the items of fan-outs, for lists. Two round trips. */
  async outline(run: RunRecord): Promise<LoadedRun> {
    const paths = (await this.redis.hkeys(this.keys.runSteps(run.id))).filter(isOutlined);
    return { run, steps: await this.steps(run.id, paths) };
  }

  /** Steps by path; missing ones are omitted. */
  async steps(id: string, paths: readonly string[]): Promise<LoadedRun['steps']> {
    if (paths.length === 0) return new Map();
    const fields = await this.redis.hmget(this.keys.runSteps(id), ...paths);
    return new Map(paths.flatMap((path, i) => (fields[i] ? [[path, parseJson(fields[i])]] : [])));
  }

  /** Oldest first, of the last 1000. See docs/reference/workflows.md#runs. */
  async timeline(id: string, limit: number): Promise<JsonObject[]> {
    const events = await this.redis.lrange(this.keys.runTimeline(id), 0, limit - 1);
    return events.map(parseJson);
  }

  /**
   * Events after a position, oldest first. @param after number of events that were read before
   *
   * @returns also the number of events after the position that are no longer kept
   */
  async timelineAfter(id: string, after: number): Promise<{ events: JsonObject[]; dropped: number }> {
    // One snapshot: the list is cut and its count written by one script.
    const reading = this.redis
      .multi()
      .hget(this.keys.run(id), 'timeline_dropped')
      .lrange(this.keys.runTimeline(id), 0, -1);
    const [gone, kept] = ((await reading.exec()) ?? []).map(([error, reply]) => {
      if (error) throw error;
      return reply;
    }) as [string | null, string[]];
    const first = Number(gone ?? 0);
    return { events: kept.slice(Math.max(0, after - first)).map(parseJson), dropped: Math.max(0, first - after) };
  }

  /** Pending timers, next due first. */
  async timers(id: string): Promise<RunTimer[]> {
    const timers = Object.entries(await this.redis.hgetall(this.keys.runTimers(id)));
    return timers
      .map(([member, timer]) => ({ member, dueMs: Number((JSON.parse(timer) as [string])[0]) }))
      .sort((a, b) => a.dueMs - b.dueMs);
  }

  /** Acquires the lock for a pass: one owner at a time, for `lockMs`. */
  async open(id: string, owner: string, lockMs: number, maxEvents: number): Promise<OpenOutcome> {
    const reply = await runScript(
      this.redis,
      'openPass',
      this.keys.run(id),
      this.keys.runLock(id),
      id,
      owner,
      lockMs,
      maxEvents,
    );
    const [kind, nowUs, revision, status, ended, acting, ...events] = reply as [OpenOutcome['kind'], ...string[]];
    if (kind !== 'open') return { kind };
    return {
      kind,
      nowUs: Number(nowUs),
      revision: Number(revision),
      status: status as RunStatus,
      hasEnded: ended === '1',
      acting: acting === '1',
      events: events.map(parseJson),
    };
  }

  /**
   * Closes a pass. `go_on`: its effects were applied. `give_way`: likewise, but other runs go first if events remain.
   * `pause`: effects remain, and the queue redelivers the entry.
   */
  async close(id: string, owner: string, next: 'go_on' | 'give_way' | 'pause'): Promise<CloseOutcome> {
    const reply = await runScript(this.redis, 'closePass', this.keys.run(id), this.keys.runLock(id), id, owner, next);
    return (reply as [CloseOutcome])[0];
  }

  /** Adds an event to the inbox of an active run and wakes it. @param workflowId required workflow, if given */
  async post(scope: TenantScope, id: string, event: object, workflowId = ''): Promise<PostOutcome> {
    const text = JSON.stringify(event);
    const reply = await runScript(this.redis, 'postRun', this.keys.run(id), id, text, scope, workflowId);
    const [kind, status] = reply as [PostOutcome['kind'], RunStatus];
    return kind === 'ended' ? { kind, status } : { kind };
  }

  /** Fires a timer that is due by the Redis clock. Idempotent. */
  async fireTimer(id: string, member: string): Promise<FireOutcome> {
    const reply = await runScript(this.redis, 'fireTimer', this.keys.run(id), id, member);
    const [kind, ms] = reply as [FireOutcome['kind'], string?];
    if (kind === 'fired') return { kind, lateMs: Number(ms) };
    return kind === 'early' ? { kind, leftMs: Number(ms) } : { kind };
  }

  /**
   * Repairs the queue entry of a run that has work to do.
   *
   * @param failedRestMs pause before a permanently failed entry is replaced
   * @param checkAfterMs time without a save after which a sleeping run checks its jobs and timers
   */
  async requeue(id: string, failedRestMs: number, checkAfterMs: number): Promise<RequeueOutcome> {
    const reply = await runScript(this.redis, 'requeueRun', this.keys.run(id), id, failedRestMs, checkAfterMs);
    return (reply as [RequeueOutcome])[0];
  }

  /** Removes an ended run without pending effects. Keeps its idempotency key, so that a repeat cannot start it again. */
  async remove(scope: TenantScope, id: string): Promise<RemoveOutcome> {
    const reply = await runScript(this.redis, 'removeRun', this.keys.run(id), id, scope);
    const [kind, status] = reply as [RemoveOutcome['kind'], RunStatus];
    return kind === 'active' ? { kind, status } : { kind };
  }

  /** The earlier start of a workflow with this idempotency key, if any. */
  async reserved(
    tenant: string,
    workflowId: string,
    key: string,
  ): Promise<{ hash: string; answer: string } | undefined> {
    const [hash, answer] = await this.redis.hmget(idempotencyKey(this.keys, tenant, workflowId, key), 'hash', 'answer');
    return hash ? { hash, answer: answer ?? '' } : undefined;
  }
}

/** Positions of jobs in the reply of a script, as position and detail of each. */
const toPlacedJobs = (jobs: readonly SavedJob[], reply: readonly string[]): (Placed | undefined)[] =>
  jobs.map((_, i) => toPlaced(reply[2 * i], reply[2 * i + 1]));

/** Undefined when the save did not accept the job. */
const toPlaced = (position: string | undefined, detail = ''): Placed | undefined =>
  position === undefined || position === 'exists' ? undefined : parsePlaced(position, detail);

/** Excludes items (`weigh[2]`) and the input list of a fan-out (`weigh!items`), which may be numerous and large. */
const isOutlined = (path: string): boolean => !path.endsWith(']') && !path.endsWith('!items');

function seenBy<T>(scope: TenantScope, value: T | undefined, tenant: string | undefined): FindResult<T> {
  if (value === undefined) return { kind: 'missing' };
  return scope === '*' || scope === tenant ? { kind: 'found', value } : { kind: 'other_tenant' };
}

/** Escapes the key separator in the workflow id. */
function idempotencyKey(keys: Keys, tenant: string, workflowId: string, key: string): string {
  const workflow = workflowId.replaceAll('%', '%25').replaceAll(':', '%3A');
  return keys.runIdempotency(tenant, workflow, key);
}
