import type { DecisionVerdict, ResolutionOutcome } from '@svc/contract';
import { luaJson, runScript, type Store } from '@svc/store';

/** Position of an entry in the record that the log is derived from; entries up to the last one are ignored. */
interface Sourced {
  /** From 1, ascending per tenant and log; 0 = without a position, so that a repeated entry is stored twice. */
  position: number;
}

/** A policy decision about a job. */
export interface LoggedDecision extends Sourced {
  atMs: number;
  jobId: string;
  topic: string;
  /** Empty for the default decision. */
  ruleId: string;
  verdict: DecisionVerdict;
  reason: string;
  /** JSON; empty without constraints. */
  constraints: string;
  agentId: string;
  principalId: string;
  capability: string;
  riskTags: readonly string[];
  packId: string;
  /** Policy snapshot, without the part after `|`. */
  policyVersion: string;
}

/** The resolution of an approval. */
export interface LoggedResolution extends Sourced {
  atMs: number;
  heldAtMs: number;
  jobId: string;
  topic: string;
  ruleId: string;
  agentId: string;
  outcome: ResolutionOutcome;
  /** Principal; empty = the service. */
  by: string;
  role: string;
  reason: string;
}

/** Place of an entry in its log. */
export interface LogPlace {
  ms: number;
  seq: number;
}
export interface LogRange {
  fromMs: number;
  /** Inclusive. */
  toMs: number;
  /** Only older entries. */
  before?: LogPlace;
}
export type Placed<T> = T & { place: LogPlace };

/**
 * Decisions and resolved approvals of each tenant. Derived from the audit by batches after the fact, so that no decision waits
 * for it. See docs/reference/governance.md#decisions.
 */
export interface DecisionLog {
  /** Appends decisions of one tenant, in the order of their positions. Safe to repeat. @returns number of new entries */
  appendDecisions(tenant: string, decisions: readonly LoggedDecision[]): Promise<number>;
  /** The same for resolved approvals. */
  appendResolutions(tenant: string, resolutions: readonly LoggedResolution[]): Promise<number>;
  /** Newest first, at most `count`; reads only the range. */
  decisions(tenant: string, range: LogRange, count: number): Promise<Placed<LoggedDecision>[]>;
  resolutions(tenant: string, range: LogRange, count: number): Promise<Placed<LoggedResolution>[]>;
  /** Last time of each rule that decided about a job, ms. */
  ruleMatches(tenant: string): Promise<ReadonlyMap<string, number>>;
  /** Last time of each topic with a job that no rule decided, ms. */
  defaultedTopics(tenant: string): Promise<ReadonlyMap<string, number>>;
}

const MAX_ENTRIES = 100_000;
const batchSize = 200;
/** In the order in which they are stored: Redis compresses entries with equal field names. */
const decisionFields = ['job', 'topic', 'rule', 'verdict', 'reason', 'constraints', 'agent', 'principal', 'capability', 'tags', 'pack', 'policy', 'at'] as const; // prettier-ignore

interface LogEntry {
  position: number;
  at_ms: number;
  rule: string;
  topic: string;
  fields: string[];
}

/** The log in Redis streams. */
export class RedisDecisionLog implements DecisionLog {
  /** @param keepMs retention. SVC_DECISION_LOG_TTL_SECONDS */
  constructor(
    private readonly store: Pick<Store, 'redis' | 'keys'>,
    private readonly keepMs: number,
    private readonly maxEntries: number = MAX_ENTRIES,
  ) {}

  appendDecisions(tenant: string, decisions: readonly LoggedDecision[]): Promise<number> {
    const entries = decisions.map((one): LogEntry => {
      const values = [
        one.jobId, one.topic, one.ruleId, one.verdict, one.reason, one.constraints, one.agentId, one.principalId,
        one.capability, JSON.stringify(one.riskTags), one.packId, one.policyVersion, String(one.atMs),
      ]; // prettier-ignore
      const fields = decisionFields.flatMap((name, i) => [name, values[i] ?? '']);
      return { position: one.position, at_ms: one.atMs, rule: one.ruleId, topic: one.topic, fields };
    });
    return this.append(tenant, 'decisions', this.store.keys.decisionLog(tenant), entries);
  }

  appendResolutions(tenant: string, resolutions: readonly LoggedResolution[]): Promise<number> {
    const entries = resolutions.map((one): LogEntry => {
      const { position, atMs, heldAtMs, jobId, topic, ruleId, agentId, outcome, by, role, reason } = one;
      const fields = [
        'job', jobId, 'topic', topic, 'rule', ruleId, 'agent', agentId, 'outcome', outcome, 'by', by, 'role', role,
        'reason', reason, 'held', String(heldAtMs), 'at', String(atMs),
      ]; // prettier-ignore
      return { position, at_ms: atMs, rule: ruleId, topic, fields };
    });
    return this.append(tenant, 'resolutions', this.store.keys.resolutionLog(tenant), entries);
  }

  async decisions(tenant: string, range: LogRange, count: number): Promise<Placed<LoggedDecision>[]> {
    const found = await this.read(this.store.keys.decisionLog(tenant), range, count);
    return found.map(({ place, fields }) => ({
      place,
      position: 0,
      atMs: Number(fields['at']),
      jobId: fields['job'] ?? '',
      topic: fields['topic'] ?? '',
      ruleId: fields['rule'] ?? '',
      verdict: (fields['verdict'] ?? 'deny') as DecisionVerdict,
      reason: fields['reason'] ?? '',
      constraints: fields['constraints'] ?? '',
      agentId: fields['agent'] ?? '',
      principalId: fields['principal'] ?? '',
      capability: fields['capability'] ?? '',
      riskTags: JSON.parse(fields['tags'] || '[]') as string[],
      packId: fields['pack'] ?? '',
      policyVersion: fields['policy'] ?? '',
    }));
  }

  async resolutions(tenant: string, range: LogRange, count: number): Promise<Placed<LoggedResolution>[]> {
    const found = await this.read(this.store.keys.resolutionLog(tenant), range, count);
    return found.map(({ place, fields }) => ({
      place,
      position: 0,
      atMs: Number(fields['at']),
      heldAtMs: Number(fields['held']),
      jobId: fields['job'] ?? '',
      topic: fields['topic'] ?? '',
      ruleId: fields['rule'] ?? '',
      agentId: fields['agent'] ?? '',
      outcome: (fields['outcome'] ?? 'invalidated') as ResolutionOutcome,
      by: fields['by'] ?? '',
      role: fields['role'] ?? '',
      reason: fields['reason'] ?? '',
    }));
  }

  ruleMatches(tenant: string): Promise<ReadonlyMap<string, number>> {
    return this.lastTimes(this.store.keys.ruleMatches(tenant));
  }

  defaultedTopics(tenant: string): Promise<ReadonlyMap<string, number>> {
    return this.lastTimes(this.store.keys.defaultedTopics(tenant));
  }

  /** A repeated batch is ignored, so a failure between two batches loses and repeats nothing. */
  private async append(tenant: string, log: string, stream: string, entries: readonly LogEntry[]): Promise<number> {
    let appended = 0;
    for (let i = 0; i < entries.length; i += batchSize) {
      const batch = {
        tenant,
        log,
        keep_ms: this.keepMs,
        max: this.maxEntries,
        entries: entries.slice(i, i + batchSize),
      };
      const reply = await runScript(this.store.redis, 'appendGovernance', stream, luaJson(batch));
      appended += Number((reply as string[])[1]);
    }
    return appended;
  }

  private async read(stream: string, { fromMs, toMs, before }: LogRange, count: number) {
    const end = before && before.ms <= toMs ? `(${before.ms}-${before.seq}` : String(toMs);
    const found = await this.store.redis.xrevrange(stream, end, String(fromMs), 'COUNT', count);
    return found.map(([id, flat]) => {
      const [ms, seq] = id.split('-');
      const pairs = flat.flatMap((name, i) => (i % 2 === 0 ? [[name, flat[i + 1] ?? ''] as const] : []));
      return {
        place: { ms: Number(ms), seq: Number(seq) },
        fields: Object.fromEntries(pairs) as Record<string, string>,
      };
    });
  }

  private async lastTimes(zset: string): Promise<ReadonlyMap<string, number>> {
    const flat = await this.store.redis.zrange(zset, 0, '-1', 'WITHSCORES');
    return new Map(flat.flatMap((name, i) => (i % 2 === 0 ? [[name, Number(flat[i + 1])] as const] : [])));
  }
}
