import type { TenantScope } from '@svc/contract';
import { type EffectEvent, type EffectState, inFlightStates } from '@svc/lifecycle';
import { createHash } from 'node:crypto';
import type { Redis } from 'ioredis';
import type { JobRecord } from './job.record';
import type { Page } from './job.index';
import type { Keys } from './keys';
import { luaJson } from './lua-json';
import { runScript } from './scripts';

/** A side effect of a job. Times are µs. See docs/reference/effects.md. */
export interface EffectRecord {
  id: string;
  tenant: string;
  /** Jobs that share it; see `toEffectScope`. */
  scope: string;
  key: string;
  state: EffectState;
  updated_at: number;
  /** Job that began it last. */
  job_id: string;
  dispatch_id: string;
  worker_id: string;
  attempt: number;
  begun_at: number;
  ended_at?: number;
  /** JSON text; absent for none. */
  result?: string;
  settled_at?: number;
  settled_by?: string;
  settled_role?: string;
  reason?: string;
}

/** The dispatch in which a worker reports an effect. `call` is the id of one attempt to make it. */
export interface EffectClaim {
  tenant: string;
  jobId: string;
  workerId: string;
  dispatchId: string;
  key: string;
  call: string;
}

export type BeginOutcome =
  | { kind: 'begun' | 'unknown' | 'full' | 'missing' | 'other_tenant' | 'superseded' }
  | { kind: 'done' | 'happened'; result?: string }
  | { kind: 'not_in_flight'; state: string };

export type EndOutcome = { kind: 'ended' | 'refused'; state: EffectState } | { kind: 'missing' };
export type SettleOutcome = { kind: 'settled' | 'refused'; state: EffectState } | { kind: 'missing' };

export interface Settlement {
  event: Extract<EffectEvent, 'confirm' | 'deny' | 'redo'>;
  by: string;
  role: string;
  reason: string;
  /** JSON text. */
  result?: string;
}

/** Bounds the memory that one job can use. */
const MAX_EFFECTS = 1_000;

/** States of effects that are listed for a tenant. */
export const listedEffectStates = ['unknown', 'happened', 'not_happened', 'retry'] as const satisfies EffectState[];

/** States in which a worker has, or may have, the job. */
const withWorker = [...inFlightStates, 'SCHEDULED'];

/** The scope of a job's effects: retries of a job, and the attempts of a step of a run, share theirs. */
export const toEffectScope = ({
  id,
  run,
  run_path: path,
  effects_of: inherited,
}: Pick<JobRecord, 'id' | 'run' | 'run_path' | 'effects_of'>): string =>
  inherited ?? (run !== undefined && path !== undefined ? `run:${run}:${path}` : `job:${id}`);

const toEffectId = (tenant: string, scope: string, key: string): string =>
  createHash('sha256')
    .update(JSON.stringify([tenant, scope, key]))
    .digest('hex')
    .slice(0, 32);

/** The ledger of side effects in Redis. Each method that writes is one round trip. */
export class EffectRepository {
  constructor(
    private readonly redis: Redis,
    private readonly keys: Keys,
  ) {}

  /** @param job as it was read; a later change of its dispatch is detected */
  async begin(
    job: Pick<JobRecord, 'id' | 'run' | 'run_path' | 'effects_of'>,
    { tenant, jobId, workerId, dispatchId, key, call }: EffectClaim,
  ): Promise<BeginOutcome> {
    const id = toEffectId(tenant, toEffectScope(job), key);
    const document = { id, key, tenant, job: jobId, worker: workerId, dispatch_id: dispatchId, call };
    const limits = { states: withWorker, max: MAX_EFFECTS };
    const args = luaJson({ ...document, ...limits });
    const reply = await runScript(this.redis, 'beginEffect', this.keys.job(jobId), args);
    const [kind, detail = ''] = reply as [BeginOutcome['kind'], string?];
    if (kind === 'not_in_flight') return { kind, state: detail };
    if (kind === 'done' || kind === 'happened') return { kind, ...(detail !== '' && { result: detail }) };
    return { kind };
  }

  /** @param job as it was read */
  async end(
    job: Pick<JobRecord, 'id' | 'run' | 'run_path' | 'effects_of'>,
    { tenant, jobId, workerId, dispatchId, key, call }: EffectClaim,
    event: 'finish' | 'abandon',
    result?: string,
  ): Promise<EndOutcome> {
    const id = toEffectId(tenant, toEffectScope(job), key);
    const document = { id, tenant, job: jobId, worker: workerId, dispatch_id: dispatchId, call, event };
    const args = luaJson({ ...document, ...(result !== undefined && { result }) });
    return toOutcome(await runScript(this.redis, 'endEffect', this.keys.effect(id), args)) as EndOutcome;
  }

  async settle(scope: TenantScope, id: string, settlement: Settlement): Promise<SettleOutcome> {
    const args = luaJson({ id, scope, ...settlement });
    return toOutcome(await runScript(this.redis, 'settleEffect', this.keys.effect(id), args)) as SettleOutcome;
  }

  async get(scope: TenantScope, id: string): Promise<EffectRecord | undefined> {
    const effect = parseEffect(await this.redis.hgetall(this.keys.effect(id)));
    return effect && (scope === '*' || effect.tenant === scope) ? effect : undefined;
  }

  /** All effects that a job shares, oldest first. */
  async ofJob(job: Pick<JobRecord, 'id' | 'run' | 'run_path' | 'effects_of'>): Promise<EffectRecord[]> {
    const effects = await this.load(await this.redis.smembers(this.keys.effectsOf(toEffectScope(job))));
    return effects.sort((a, b) => a.begun_at - b.begun_at);
  }

  /** Effects of a tenant in a listed state, newest change first. */
  async page(
    tenant: string,
    state: (typeof listedEffectStates)[number],
    limit: number,
    cursorUs = Infinity,
  ): Promise<Page<EffectRecord>> {
    const upper = Number.isFinite(cursorUs) ? String(cursorUs) : '+inf';
    const index = this.keys.effectsInState(tenant, state);
    const flat = await this.redis.zrevrangebyscore(index, upper, 0, 'WITHSCORES', 'LIMIT', 0, limit + 1);
    const ids = flat.filter((_, at) => at % 2 === 0);
    const lastUs = Number(flat[limit * 2 - 1]);
    const items = await this.load(ids.slice(0, limit));
    // An effect that has changed since is listed under its new state.
    const current = items.filter((effect) => effect.tenant === tenant && effect.state === state);
    return { items: current, nextCursorUs: ids.length > limit ? lastUs - 1 : null };
  }

  private async load(ids: readonly string[]): Promise<EffectRecord[]> {
    const found = await Promise.all(ids.map((id) => this.redis.hgetall(this.keys.effect(id))));
    return found.flatMap((fields) => parseEffect(fields) ?? []);
  }
}

const toOutcome = (reply: unknown): { kind: string; state?: string } => {
  const [kind, state] = reply as [string, string?];
  return { kind, ...(state !== undefined && { state }) };
};

const numbers: readonly string[] = ['updated_at', 'attempt', 'begun_at', 'ended_at', 'settled_at'];
const hidden: readonly string[] = ['call', 'asked_by'];

function parseEffect(fields: Readonly<Record<string, string>>): EffectRecord | undefined {
  const set = Object.entries(fields).filter(([name, value]) => value !== '' && !hidden.includes(name));
  const effect = Object.fromEntries(set.map(([name, value]) => [name, numbers.includes(name) ? Number(value) : value]));
  return effect['state'] === undefined ? undefined : (effect as unknown as EffectRecord);
}
