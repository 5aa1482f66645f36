import type { ShadowComparison } from '@svc/contract';
import type { Redis } from 'ioredis';
import { keys } from './keys';
import { luaJson } from './lua-json';
import { runScript } from './scripts';

/**
 * What a shadow policy decided about a job, as the audit event `shadow_eval` tells it: job, agent and severity, and what the
 * event has in `extra`, all of it text. See docs/reference/policy.md#shadow-policies.
 */
export interface ShadowResult extends Omit<ShadowComparison, keyof ShadowResultPlace> {
  severity: string;
  bundle_id: string;
}
export interface StoredShadowResult extends ShadowResult, ShadowResultPlace {}

/** Where a result stands among those of its bundle. */
export interface ShadowResultPlace {
  /** When it was recorded, by the store's clock; unix ms. */
  ts_ms: number;
  /** Tells those of one ms apart. */
  seq: number;
}

export interface ShadowResultRange {
  fromMs: number;
  /** Not of it any more. */
  toMs: number;
  /** Only those that are older. */
  before?: ShadowResultPlace;
  most: number;
}

const keepMs = 30 * 86_400_000;
const mostOfTenant = 100_000;

/** Results of shadow policies, in the order they were recorded in. */
export class ShadowResultRepository {
  constructor(
    private readonly redis: Redis,
    private readonly most: number = mostOfTenant,
  ) {}

  /** Appends results of one tenant, in one round trip. */
  async add(tenant: string, results: readonly ShadowResult[]): Promise<void> {
    const appended = results.map((result) => ({ bundle: result.bundle_id, fields: Object.entries(result).flat() }));
    const batch = { tenant, keep_ms: keepMs, most: this.most, results: appended };
    await runScript(this.redis, 'addShadowResults', keys.shadowResultsOf(tenant), luaJson(batch));
  }

  /** Newest first, and nothing beyond the range is read. */
  async page(tenant: string, bundle: string, range: ShadowResultRange): Promise<StoredShadowResult[]> {
    const { fromMs, toMs, before, most } = range;
    if (before?.ts_ms === 0 && before.seq === 0) return [];
    const end = before && before.ts_ms < toMs ? `(${before.ts_ms}-${before.seq}` : String(toMs - 1);
    const found = await this.redis.xrevrange(keys.shadowResults(tenant, bundle), end, fromMs, 'COUNT', most);
    return found.map(([id, fields]) => ({ ...placeOf(id), ...resultOf(fields) }));
  }

  /** Whether a bundle has any results. */
  async exist(tenant: string, bundle: string): Promise<boolean> {
    return (await this.redis.exists(keys.shadowResults(tenant, bundle))) === 1;
  }
}

function placeOf(id: string): ShadowResultPlace {
  const [ms, seq] = id.split('-');
  return { ts_ms: Number(ms), seq: Number(seq) };
}

const resultOf = (fields: readonly string[]): ShadowResult =>
  Object.fromEntries(
    fields.flatMap((name, i) => (i % 2 === 0 ? [[name, fields[i + 1] ?? '']] : [])),
  ) as unknown as ShadowResult;
