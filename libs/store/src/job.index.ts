import { inFlightStates, isTerminal, jobStates, type JobState } from '@svc/lifecycle';
import type { Redis } from 'ioredis';
import { parseSummary, summaryFields, type JobRecord, type JobSummary } from './job.record';
import { loadJob } from './job.repository';
import type { Keys } from './keys';

export interface JobFilter {
  states?: readonly JobState[];
  topic?: string;
  team?: string;
  traceId?: string;
  /** Inclusive bounds of updated_at, µs. */
  afterUs?: number;
  beforeUs?: number;
}

export interface Page<T> {
  items: T[];
  /** Sort time of the last item minus one µs; null at the end. */
  nextCursorUs: number | null;
}

const batchSize = 200;

interface Row {
  job: JobSummary;
  /** Score in the index, µs. */
  atUs: number;
}

/** Lists of jobs: reads the per-state indexes, newest first, and applies filters before pagination. */
export class JobIndex {
  constructor(
    private readonly redis: Redis,
    private readonly keys: Keys,
  ) {}

  /** One page of a tenant's jobs. Filters by state and trace use an index; topic and team are filtered along it. */
  async page(tenant: string, filter: JobFilter, limit: number, cursorUs?: number): Promise<Page<JobSummary>> {
    const newestUs = Math.min(cursorUs ?? Infinity, filter.beforeUs ?? Infinity);
    const rows = filter.traceId
      ? this.ofTrace(filter.traceId, newestUs)
      : this.newestFirst(tenant, filter, newestUs, limit);
    const found: Row[] = [];
    for await (const row of rows) {
      if (row.job.tenant !== tenant || !matches(row.job, filter)) continue;
      const last = found.at(-1);
      if (found.length === limit && last) return { items: found.map(({ job }) => job), nextCursorUs: last.atUs - 1 };
      found.push(row);
    }
    return { items: found.map(({ job }) => job), nextCursorUs: null };
  }

  /** Merges the per-state indexes. A row keeps its score, because the job may have changed since. */
  private async *newestFirst(tenant: string, filter: JobFilter, newestUs: number, limit: number): AsyncGenerator<Row> {
    const indexes = (filter.states ?? jobStates.states).map((state) => this.keys.jobsInState(tenant, state));
    // One more than requested detects a next page; filters along the index need larger batches.
    const isFiltered = filter.topic !== undefined || filter.team !== undefined;
    const count = isFiltered ? Math.max(limit + 1, batchSize) : limit + 1;
    for (let upperUs = newestUs; ;) {
      // One transaction, so that a job that changes state concurrently is listed exactly once.
      const reading = this.redis.multi();
      for (const index of indexes) {
        reading.zrevrangebyscore(index, bound(upperUs), filter.afterUs ?? 0, 'WITHSCORES', 'LIMIT', 0, count);
      }
      const ids = ((await reading.exec()) ?? [])
        .flatMap(([error, reply]) => {
          if (error) throw error;
          return pairs(reply as string[]);
        })
        .sort((a, b) => b.score - a.score)
        .slice(0, count);
      const at = new Map(ids.map(({ member, score }) => [member, score]));
      for (const job of await this.summaries([...at.keys()])) yield { job, atUs: at.get(job.id) ?? job.updated_at };
      const last = ids.at(-1);
      if (ids.length < count || !last) return;
      upperUs = last.score - 1;
    }
  }

  /** The trace index is sorted by creation and lists by last update, so all jobs of the trace are read and sorted. */
  private async *ofTrace(traceId: string, newestUs: number): AsyncGenerator<Row> {
    const jobs = await this.traced(traceId);
    const rows = jobs.map((job) => ({ job, atUs: job.updated_at })).sort((a, b) => b.atUs - a.atUs);
    yield* rows.filter(({ atUs }) => atUs <= newestUs);
  }

  /** All jobs of a trace that a tenant may see, oldest first. */
  async byTrace(tenant: string, traceId: string): Promise<JobSummary[]> {
    return (await this.traced(traceId)).filter((job) => job.tenant === tenant);
  }

  /** The job whose id is the trace id, if any, and the other jobs of the trace. Oldest first. */
  private async traced(traceId: string): Promise<JobSummary[]> {
    const ids = await this.redis.zrange(this.keys.trace(traceId), 0, '-1');
    return (await this.summaries([traceId, ...ids])).filter((job) => job.trace_id === traceId);
  }

  /** A tenant's approvals, newest first: ids with their sort time. */
  async approvals(tenant: string, upperUs: number, count: number): Promise<{ id: string; atUs: number }[]> {
    const reply = await this.redis.zrevrangebyscore(
      this.keys.approvals(tenant),
      bound(upperUs),
      0,
      'WITHSCORES',
      'LIMIT',
      0,
      count,
    );
    return pairs(reply).map(({ member, score }) => ({ id: member, atUs: score }));
  }

  /** Counts of a tenant's newest jobs by state. See docs/reference/http.md#probes-and-status. */
  async pipelineCounts(tenant: string, newest: number): Promise<Map<JobState, number>> {
    const pipeline = this.redis.pipeline();
    for (const state of jobStates.states) {
      pipeline.zrevrange(this.keys.jobsInState(tenant, state), 0, newest - 1, 'WITHSCORES');
    }
    const replies = (await pipeline.exec()) ?? [];
    const rows = replies.flatMap(([error, reply], i) => {
      if (error) throw error;
      return pairs(reply as string[]).map(({ score }) => ({ score, state: jobStates.states[i] as JobState }));
    });
    const counts = new Map<JobState, number>();
    for (const { state } of rows.sort((a, b) => b.score - a.score).slice(0, newest)) {
      counts.set(state, (counts.get(state) ?? 0) + 1);
    }
    return counts;
  }

  async tenants(): Promise<string[]> {
    return this.redis.smembers(this.keys.tenants());
  }

  /** Open jobs of a tenant that were last updated between two times, oldest first. */
  async openBefore(tenant: string, beforeUs: number, count: number, fromUs = 0): Promise<JobRecord[]> {
    const reading = this.redis.multi();
    for (const state of jobStates.states.filter((one) => !isTerminal(one))) {
      const index = this.keys.jobsInState(tenant, state);
      reading.zrangebyscore(index, fromUs, bound(beforeUs), 'WITHSCORES', 'LIMIT', 0, count);
    }
    const rows = ((await reading.exec()) ?? []).flatMap(([error, reply]) => {
      if (error) throw error;
      return pairs(reply as string[]);
    });
    const oldest = rows.sort((a, b) => a.score - b.score).slice(0, count);
    return this.records(oldest.map(({ member }) => member));
  }

  /**
   * Whether workers of a pool hold a job, or may have received one whose dispatch is repeated. Reads every such job until
   * one is found, so this is for pools that get no jobs.
   */
  async hasJobsInPool(pool: string): Promise<boolean> {
    for await (const values of this.open(['SCHEDULED', ...inFlightStates], 'pool'))
      if (values.includes(pool)) return true;
    return false;
  }

  /** Number of open jobs of some topics, among the first `most` jobs of each tenant and state. */
  async countOpen(topics: ReadonlySet<string>, most: number): Promise<number> {
    let count = 0;
    const states = jobStates.states.filter((state) => !isTerminal(state));
    for await (const values of this.open(states, 'topic', most)) {
      count += values.filter((topic) => topic !== null && topics.has(topic)).length;
    }
    return count;
  }

  /** One field of the jobs in some states, in batches. The ids of a tenant are one snapshot, so that no job is missed. */
  private async *open(states: readonly JobState[], field: string, most = 0): AsyncGenerator<(string | null)[]> {
    for (const tenant of await this.tenants()) {
      const reading = this.redis.multi();
      for (const state of states) reading.zrange(this.keys.jobsInState(tenant, state), 0, String(most - 1));
      const ids = ((await reading.exec()) ?? []).flatMap(([error, reply]) => {
        if (error) throw error;
        return reply as string[];
      });
      for (let i = 0; i < ids.length; i += batchSize) {
        const batch = ids.slice(i, i + batchSize);
        yield await Promise.all(batch.map((id) => this.redis.hget(this.keys.job(id), field)));
      }
    }
  }

  /** Jobs with pending publishes, oldest first. Rows with an expired record are removed. */
  async unpublished(beforeUs: number, count: number): Promise<JobRecord[]> {
    const ids = await this.redis.zrangebyscore(this.keys.intents(), 0, beforeUs, 'LIMIT', 0, count);
    const jobs = await this.records(ids);
    const there = new Set(jobs.map(({ id }) => id));
    const gone = ids.filter((id) => !there.has(id));
    if (gone.length > 0) await this.redis.zrem(this.keys.intents(), ...gone);
    return jobs;
  }

  /** Removes index entries of expired records. Returns their number. */
  async prune(tenant: string, endedBeforeUs: number, terminal: readonly JobState[]): Promise<number> {
    const pipeline = this.redis.pipeline();
    for (const state of terminal) pipeline.zremrangebyscore(this.keys.jobsInState(tenant, state), 0, endedBeforeUs);
    pipeline.zremrangebyscore(this.keys.approvals(tenant), 0, endedBeforeUs);
    const replies = (await pipeline.exec()) ?? [];
    return replies.reduce((sum, [, removed]) => sum + Number(removed ?? 0), 0);
  }

  private async summaries(ids: readonly string[]): Promise<JobSummary[]> {
    const rows = await Promise.all(ids.map((id) => this.redis.hmget(this.keys.job(id), ...summaryFields)));
    return rows.flatMap((values) => parseSummary(values) ?? []);
  }

  async records(ids: readonly string[]): Promise<JobRecord[]> {
    const jobs = await Promise.all(ids.map((id) => loadJob(this.redis, this.keys, id)));
    return jobs.flatMap((job) => job ?? []);
  }
}

const matches = (job: JobSummary, { topic, team, states, afterUs }: JobFilter): boolean =>
  (topic === undefined || job.topic === topic) &&
  (team === undefined || job.request.team_id === team) &&
  (states === undefined || states.includes(job.state)) &&
  (afterUs === undefined || job.updated_at >= afterUs);

const bound = (us: number): string => (Number.isFinite(us) ? String(us) : '+inf');

const pairs = (flat: string[]): { member: string; score: number }[] =>
  flat.flatMap((member, i) => (i % 2 === 0 ? [{ member, score: Number(flat[i + 1]) }] : []));
