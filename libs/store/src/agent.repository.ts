import { limits, type AgentStatus, type AgentView, type AuditAct, type DeniedEvent } from '@svc/contract';
import type { Redis } from 'ioredis';
import type { Keys } from './keys';
import { luaJson } from './lua-json';
import { runScript } from './scripts';

/** A registered agent. */
export interface AgentRecord {
  tenant: string;
  /** Number of its changes. */
  revision: number;
  agent: Omit<AgentView, 'last_active'>;
}

export interface AgentWrite {
  agent: AgentRecord['agent'];
  /** Its revision as it was read; 0 = new. */
  expected: number;
  createdUs: number;
  /** How the change is recorded in the audit chain. */
  act: AuditAct;
}

export type AgentWriteOutcome =
  { kind: 'written'; revision: number } | { kind: 'changed' } | { kind: 'full'; count: number };

/** Position in the list of agents: creation (µs) and id of the last one read. */
export interface AgentPosition {
  createdUs: string;
  id: string;
}

export interface AgentFigures {
  jobs: number;
  denied: number;
  /** µs, 0 = none */
  lastActiveUs: number;
}

const DAY_MS = 86_400_000;
const DAYS_COUNTED = 7;

/** Agents, their refusals and their open jobs. See docs/reference/agents.md. */
export class AgentRepository {
  constructor(
    private readonly redis: Redis,
    private readonly keys: Keys,
  ) {}

  /** Compare-and-set on the revision. */
  async write(tenant: string, { agent, expected, createdUs, act }: AgentWrite): Promise<AgentWriteOutcome> {
    const { id, status } = agent;
    const args = [id, tenant, JSON.stringify(agent), status, expected, createdUs, limits.tenantAgents];
    const pools = status === 'revoked' ? '' : agent.allowed_pools.join('\n');
    const reply = await runScript(this.redis, 'writeAgent', this.keys.agent(id), ...args, luaJson(act), pools);
    const [kind, detail] = reply as [AgentWriteOutcome['kind'], string?];
    if (kind === 'written') return { kind, revision: Number(detail) };
    return kind === 'full' ? { kind, count: Number(detail) } : { kind };
  }

  async get(id: string): Promise<AgentRecord | undefined> {
    return toRecord(await this.redis.hmget(this.keys.agent(id), ...recordFields));
  }

  /** The records of these agents; unknown ones are absent. */
  async getSome(ids: readonly string[]): Promise<Map<string, AgentRecord>> {
    const records = await Promise.all(ids.map((id) => this.get(id)));
    return new Map(records.flatMap((record) => (record ? [[record.agent.id, record]] : [])));
  }

  /**
   * Agents of a tenant, newest first.
   *
   * @param after the last one of the page before
   */
  async page(
    tenant: string,
    count: number,
    after?: AgentPosition,
  ): Promise<(AgentPosition & { record: AgentRecord })[]> {
    const start = after?.createdUs ?? '+inf';
    // Agents created in the same microsecond precede or follow the last one by their ids.
    const rows = await this.redis.zrevrangebyscore(
      this.keys.agentsOf(tenant),
      start,
      '-inf',
      'WITHSCORES',
      'LIMIT',
      0,
      count + 8,
    );
    const positions: AgentPosition[] = [];
    for (let i = 0; i < rows.length; i += 2) positions.push({ id: rows[i] ?? '', createdUs: rows[i + 1] ?? '' });
    const isAfter = ({ id, createdUs }: AgentPosition) => !after || createdUs !== after.createdUs || id < after.id;
    const wanted = positions.filter(isAfter).slice(0, count);
    const records = await this.getSome(wanted.map(({ id }) => id));
    return wanted.flatMap((position) => {
      const record = records.get(position.id);
      return record ? [{ ...position, record }] : [];
    });
  }

  /** Ids of some agents of any tenant that name this pool and are not revoked. */
  async ofPool(pool: string, count: number): Promise<string[]> {
    return this.redis.srandmember(this.keys.agentsOfPool(pool), count);
  }

  /** Times of the newest jobs of agents, µs. */
  async lastActive(tenant: string, ids: readonly string[]): Promise<Map<string, number>> {
    if (ids.length === 0) return new Map();
    const times = await this.redis.hmget(this.keys.agentActivity(tenant), ...ids);
    return new Map(ids.flatMap((id, i) => (times[i] ? [[id, Number(times[i])]] : [])));
  }

  async figures(tenant: string, id: string, nowMs: number): Promise<AgentFigures> {
    const today = Math.floor(nowMs / DAY_MS);
    const days = Array.from({ length: DAYS_COUNTED }, (_, i) => String(today - i));
    const [active, ...counts] = await Promise.all([
      this.redis.hget(this.keys.agentActivity(tenant), id),
      ...days.map((day) => this.redis.hmget(this.keys.agentDay(id, day), 'jobs', 'denied')),
    ]);
    const sum = (at: 0 | 1) => counts.reduce((total, count) => total + Number(count[at] ?? 0), 0);
    return { jobs: sum(0), denied: sum(1), lastActiveUs: Number(active ?? 0) };
  }

  /**
   * Records a refusal.
   *
   * @param onceFor job whose refusal is recorded once, however often this is called; '' = each call is recorded
   */
  async deny(tenant: string, refusal: DeniedEvent, act: AuditAct, onceFor = ''): Promise<void> {
    const { agent_id: agent } = refusal;
    const args = [agent, tenant, JSON.stringify(refusal), limits.deniedEventsListed, JSON.stringify(act), onceFor];
    await runScript(this.redis, 'denyAgent', this.keys.agentDenied(agent), ...args);
  }

  /** The newest refusals, newest first. */
  async denied(id: string): Promise<DeniedEvent[]> {
    const rows = await this.redis.lrange(this.keys.agentDenied(id), 0, limits.deniedEventsListed - 1);
    return rows.map((row) => JSON.parse(row) as DeniedEvent);
  }

  /** Some open jobs of an agent that is not active; undefined when it is. */
  async jobsToStop(id: string, count: number): Promise<string[] | undefined> {
    const [status, jobs] =
      (await this.redis
        .pipeline()
        .hget(this.keys.agent(id), 'status')
        .srandmember(this.keys.agentJobs(id), count)
        .exec()) ?? [];
    const error = status?.[0] ?? jobs?.[0];
    if (error) throw error;
    return status?.[1] === 'active' ? undefined : (jobs?.[1] as string[]);
  }

  /** Agents whose new status is not applied yet, oldest first. */
  async changed(count: number): Promise<string[]> {
    // A pipeline of its own, so that a poll delays no automatic one.
    const [[error, ids] = [null, []]] =
      (await this.redis
        .pipeline()
        .zrange(this.keys.agentsChanged(), '0', String(count - 1))
        .exec()) ?? [];
    if (error) throw error;
    return ids as string[];
  }

  /**
   * @param status that was applied
   * @param ended jobs that were found to have ended
   * @returns `open`: the agent still has open jobs; `changed`: it has another status
   */
  async finishChange(
    id: string,
    status: AgentStatus,
    ended: readonly string[] = [],
  ): Promise<'finished' | 'changed' | 'open'> {
    const reply = await runScript(this.redis, 'finishAgentChange', this.keys.agentJobs(id), id, status, ...ended);
    return (reply as ['finished' | 'changed' | 'open'])[0];
  }
}

const recordFields = ['document', 'tenant', 'revision'] as const;

function toRecord([document, tenant, revision]: (string | null)[]): AgentRecord | undefined {
  if (!document) return undefined;
  return { tenant: tenant ?? '', revision: Number(revision), agent: JSON.parse(document) as AgentRecord['agent'] };
}
