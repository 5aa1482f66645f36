import type { ShadowComparison } from '@svc/contract';
import type { Redis } from 'ioredis';
import { keys } from './keys';
import { luaJson } from './lua-json';
import { runScript } from './scripts';

/**
 * Result of a shadow policy for a job, with the fields of the audit event `shadow_eval`: job, agent, severity and its
 * `extra`, all strings. See docs/reference/policy.md#shadow-policies.
 */
export interface ShadowResult extends Omit<ShadowComparison, keyof ShadowResultPosition> {
  severity: string;
  bundle_id: string;
}
export interface StoredShadowResult extends ShadowResult, ShadowResultPosition {}

/** Position of a result among those of its bundle. */
export interface ShadowResultPosition {
  /** Time of recording by the store's clock; unix ms. */
  ts_ms: number;
  /** Distinguishes results of the same ms. */
  seq: number;
}

export interface ShadowResultRange {
  fromMs: number;
  /** Exclusive. */
  toMs: number;
  /** Only older results. */
  before?: ShadowResultPosition;
  limit: number;
}

const keepMs = 30 * 86_400_000;
const MAX_PER_TENANT = 100_000;

/** Results of shadow policies, in order of recording. */
export class ShadowResultRepository {
  constructor(
    private readonly redis: Redis,
    private readonly maxPerTenant: number = MAX_PER_TENANT,
  ) {}

  /** Appends results of one tenant, in one round trip. */
  async add(tenant: string, results: readonly ShadowResult[]): Promise<void> {
    const appended = results.map((result) => ({ bundle: result.bundle_id, fields: Object.entries(result).flat() }));
    const batch = { tenant, keep_ms: keepMs, max: this.maxPerTenant, results: appended };
    await runScript(this.redis, 'addShadowResults', keys.shadowResultsOf(tenant), luaJson(batch));
  }

  /** Newest first; reads only the range. */
  async page(tenant: string, bundle: string, range: ShadowResultRange): Promise<StoredShadowResult[]> {
    const { fromMs, toMs, before, limit } = range;
    if (before?.ts_ms === 0 && before.seq === 0) return [];
    const end = before && before.ts_ms < toMs ? `(${before.ts_ms}-${before.seq}` : String(toMs - 1);
    const found = await this.redis.xrevrange(keys.shadowResults(tenant, bundle), end, fromMs, 'COUNT', limit);
    return found.map(([id, fields]) => ({ ...parsePosition(id), ...parseResult(fields) }));
  }

  /** Whether a bundle has any results. */
  async exist(tenant: string, bundle: string): Promise<boolean> {
    return (await this.redis.exists(keys.shadowResults(tenant, bundle))) === 1;
  }
}

function parsePosition(id: string): ShadowResultPosition {
  const [ms, seq] = id.split('-');
  return { ts_ms: Number(ms), seq: Number(seq) };
}

const parseResult = (fields: readonly string[]): ShadowResult =>
  Object.fromEntries(
    fields.flatMap((name, i) => (i % 2 === 0 ? [[name, fields[i + 1] ?? '']] : [])),
  ) as unknown as ShadowResult;
