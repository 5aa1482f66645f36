import { runStates, type RunStatus } from '@svc/lifecycle';
import type { Redis } from 'ioredis';
import type { Keys } from './keys';
import { liveRunStatuses, parseRun, type RunRecord } from './run.record';
import { runScript } from './scripts';

export interface RunFilter {
  workflowId?: string;
  statuses?: readonly RunStatus[];
  teamId?: string;
  /** Inclusive bounds of updated_at, µs. */
  afterUs?: number;
  beforeUs?: number;
}

export interface RunPage {
  items: RunRecord[];
  /** Unix seconds; null at the end. */
  nextCursorSec: number | null;
}

export interface DueTimer {
  workflowId: string;
  runId: string;
  member: string;
  dueMs: number;
}

interface Row {
  id: string;
  atUs: number;
}

const batchSize = 200;
const toSecond = (us: number) => Math.floor(us / 1e6);
const bound = (us: number): string => (Number.isFinite(us) ? String(us) : '+inf');

const pairs = (flat: readonly string[]): { member: string; score: number }[] =>
  flat.flatMap((member, i) => (i % 2 === 0 ? [{ member, score: Number(flat[i + 1]) }] : []));

/** Lists of runs, from their indexes. */
export class RunIndex {
  constructor(
    private readonly redis: Redis,
    private readonly keys: Keys,
  ) {}

  /**
   * One page of a tenant's runs without their steps, last updated first. Cursors are whole seconds, so a page includes all
   * runs of its last second and none is skipped. See docs/reference/workflows.md#runs.
   *
   * @param cursorUs the newest updated_at to include: the end of the cursor's second
   */
  async page(tenant: string, filter: RunFilter, limit: number, cursorUs?: number): Promise<RunPage> {
    const found: Row[] = [];
    let nextCursorSec: number | null = null;
    for await (const row of this.newestFirst(tenant, filter, cursorUs ?? Infinity)) {
      const last = found.at(-1);
      if (last && found.length >= limit && toSecond(row.atUs) < toSecond(last.atUs)) {
        nextCursorSec = toSecond(last.atUs) - 1;
        break;
      }
      found.push(row);
    }
    return { items: await this.records(found.map(({ id }) => id)), nextCursorSec };
  }

  /** Scans the index of the workflow or of each status, and filters by the other criteria. */
  private async *newestFirst(tenant: string, filter: RunFilter, newestUs: number): AsyncGenerator<Row> {
    const indexes =
      filter.workflowId === undefined
        ? (filter.statuses ?? runStates.states).map((status) => this.keys.runsInStatus(tenant, status))
        : [this.keys.runsOfWorkflow(tenant, filter.workflowId)];
    for (let upperUs = Math.min(newestUs, filter.beforeUs ?? Infinity); ;) {
      // One transaction, so that a run whose status changes concurrently is listed exactly once.
      const reading = this.redis.multi();
      for (const index of indexes) {
        reading.zrevrangebyscore(index, bound(upperUs), filter.afterUs ?? 0, 'WITHSCORES', 'LIMIT', 0, batchSize);
      }
      const rows = ((await reading.exec()) ?? [])
        .flatMap(([error, reply]) => {
          if (error) throw error;
          return pairs(reply as string[]);
        })
        .sort((a, b) => b.score - a.score)
        .slice(0, batchSize);
      const seen = await Promise.all(rows.map(({ member }) => this.matches(member, filter)));
      for (const [i, { member, score }] of rows.entries()) if (seen[i]) yield { id: member, atUs: score };
      const last = rows.at(-1);
      if (rows.length < batchSize || !last) return;
      upperUs = last.score - 1;
    }
  }

  private async matches(id: string, { statuses, teamId }: RunFilter): Promise<boolean> {
    const [status, team] = await this.redis.hmget(this.keys.run(id), 'status', 'team');
    // An expired run stays in the index until the next cleanup.
    if (!status) return false;
    return (
      (statuses === undefined || statuses.some((one) => one === status)) && (teamId === undefined || teamId === team)
    );
  }

  /** Runs of a workflow without their steps, last created first. */
  async ofWorkflow(tenant: string, workflowId: string, limit: number): Promise<RunRecord[]> {
    const ids = await this.redis.zrevrange(this.keys.runsCreated(tenant, workflowId), 0, limit - 1);
    return this.records(ids);
  }

  /** Tenants by run id, without runs that no longer exist. */
  async tenantsOf(ids: readonly string[]): Promise<ReadonlyMap<string, string>> {
    const tenants = await Promise.all(ids.map((id) => this.redis.hget(this.keys.run(id), 'tenant')));
    return new Map(ids.flatMap((id, i) => (tenants[i] ? [[id, tenants[i]] as const] : [])));
  }

  /** Number of active runs of a tenant. */
  async active(tenant: string): Promise<number> {
    const counting = this.redis.multi();
    for (const status of liveRunStatuses) counting.zcard(this.keys.runsInStatus(tenant, status));
    const counts = (await counting.exec()) ?? [];
    return counts.reduce((sum, [error, count]) => {
      if (error) throw error;
      return sum + Number(count);
    }, 0);
  }

  /** Number of active runs of all tenants. */
  async allActive(): Promise<number> {
    return this.redis.zcard(this.keys.liveRuns());
  }

  /** Number of active runs of a workflow. */
  async activeOf(tenant: string, workflowId: string): Promise<number> {
    return this.redis.scard(this.keys.liveRunsOf(tenant, workflowId));
  }

  /** Ids of active runs of a workflow. */
  async liveOf(tenant: string, workflowId: string): Promise<string[]> {
    return this.redis.smembers(this.keys.liveRunsOf(tenant, workflowId));
  }

  /** Time of the Redis clock, which all times of runs use. */
  async nowMs(): Promise<number> {
    const [seconds, us] = await this.redis.time();
    return Math.floor(Number(seconds) * 1_000 + Number(us) / 1_000);
  }

  /** Ids of active runs that were neither saved nor scanned since, least recent first. */
  async toScan(beforeMs: number, limit: number): Promise<string[]> {
    return this.redis.zrangebyscore(this.keys.liveRuns(), 0, beforeMs * 1_000, 'LIMIT', 0, limit);
  }

  /** Moves scanned runs to the end of the scan order, so that runs waiting for long do not block others. */
  async scanned(ids: readonly string[], nowMs: number): Promise<void> {
    if (ids.length === 0) return;
    await this.redis.zadd(this.keys.liveRuns(), 'XX', 'GT', ...ids.flatMap((id) => [nowMs * 1_000, id]));
  }

  /** Due timers of all runs by the Redis clock, longest overdue first. */
  async dueTimers(limit: number): Promise<DueTimer[]> {
    const due = await this.redis.zrangebyscore(
      this.keys.delayTimers(),
      0,
      await this.nowMs(),
      'WITHSCORES',
      'LIMIT',
      0,
      limit,
    );
    return pairs(due).map(({ member: text, score }) => {
      const [workflow = '', runId = '', ...rest] = text.split(':');
      return { workflowId: decodeURIComponent(workflow), runId, member: rest.join(':'), dueMs: score };
    });
  }

  /** Removes pass entries that a fast clock has delayed too long, those of ended runs among them. Returns their number. */
  async dropMisdatedPasses(limit: number): Promise<number> {
    return Number(
      await runScript(this.redis, 'dropMisdatedPasses', this.keys.queue('workflow-passes', 'delayed'), limit),
    );
  }

  /** Removes runs past their retention from the lists. Returns their number. */
  async forget(nowMs: number, limit: number): Promise<number> {
    return Number(await runScript(this.redis, 'forgetRuns', this.keys.endedRuns(), nowMs, limit));
  }

  /** Removes runs from the board that ended longer ago than this. Returns their number. */
  async sweepFlows(shownSec: { completed: number; failed: number }, limit: number): Promise<number> {
    const times = [shownSec.completed * 1_000, shownSec.failed * 1_000];
    const completed = this.keys.queue('workflow-runs', 'completed');
    return Number(await runScript(this.redis, 'sweepFlows', completed, ...times, limit));
  }

  private async records(ids: readonly string[]): Promise<RunRecord[]> {
    const runs = await Promise.all(ids.map((id) => this.redis.hgetall(this.keys.run(id))));
    return runs.flatMap((fields) => parseRun(fields) ?? []);
  }
}
