import { evalLimits, type EvalEntry } from '@svc/contract';
import { auditOnly, type KeptSnapshots, runScript, type Store } from '@svc/store';
import { decompressJson } from './compressed-json';

type Audit = NonNullable<KeptSnapshots['audit']>;

/** The part of a dataset that its author wrote. */
export interface DatasetHead {
  description: string;
  created_by: string;
  entry_count: number;
  content_hash: string;
}
export interface StoredDataset extends DatasetHead {
  id: string;
  tenant: string;
  name: string;
  version: number;
  createdUs: number;
}
/** A dataset as the index lists it. */
export interface DatasetRef {
  id: string;
  name: string;
  version: number;
  createdUs: number;
}
export interface DatasetWrite {
  id: string;
  tenant: string;
  name: string;
  /** 0 = the next one. */
  version: number;
  head: DatasetHead;
  /** Compressed entries. */
  entries: Buffer;
  audit: Audit;
}
export type DatasetWriteOutcome =
  | { kind: 'written'; version: number; createdUs: number }
  | { kind: 'taken' }
  | { kind: 'full'; of: 'datasets' | 'bytes' };

/** Time for which entries are kept without their dataset. */
const stagedMs = 600_000;
const fields = ['tenant', 'name', 'version', 'created_us', 'head'] as const;

/** Evaluation datasets. See docs/reference/evals.md#datasets. */
export class DatasetRepository {
  constructor(
    private readonly store: Pick<Store, 'redis' | 'keys'>,
    private readonly maxBytes: number = evalLimits.storedBytes,
  ) {}

  /** Stores a dataset. A crash between the two writes leaves entries that expire. */
  async write({ id, tenant, name, version, head, entries, audit }: DatasetWrite): Promise<DatasetWriteOutcome> {
    const { redis, keys } = this.store;
    await redis.set(keys.evalEntries(id), entries, 'PX', stagedMs);
    const limits = { max_datasets: evalLimits.datasets, max_bytes: this.maxBytes };
    const request = JSON.stringify({ tenant, id, name, version, bytes: entries.length, ...limits });
    const texts = [request, JSON.stringify(head), ...auditOnly(audit)];
    const [kind, detail, at] = (await runScript(redis, 'writeEvalDataset', keys.evalDataset(id), ...texts)) as string[];
    if (kind === 'written') return { kind, version: Number(detail), createdUs: Number(at) };
    await redis.del(keys.evalEntries(id));
    if (kind === 'taken') return { kind };
    if (kind === 'full') return { kind, of: detail === 'datasets' ? 'datasets' : 'bytes' };
    throw new Error('the entries of a dataset expired before they were stored');
  }

  async load(id: string): Promise<StoredDataset | undefined> {
    const { redis, keys } = this.store;
    const [tenant, name, version, createdUs, head] = await redis.hmget(keys.evalDataset(id), ...fields);
    if (!tenant || !name || !head) return undefined;
    const written = JSON.parse(head) as DatasetHead;
    return { ...written, id, tenant, name, version: Number(version), createdUs: Number(createdUs) };
  }

  /** The entries as canonical JSON; undefined when they are gone. */
  async entriesText(id: string): Promise<string | undefined> {
    const bytes = await this.store.redis.getBuffer(this.store.keys.evalEntries(id));
    return bytes ? decompressJson(bytes) : undefined;
  }

  async entries(id: string): Promise<EvalEntry[] | undefined> {
    const text = await this.entriesText(id);
    return text === undefined ? undefined : (JSON.parse(text) as EvalEntry[]);
  }

  /** All datasets of a tenant, newest first: at most `evalLimits.datasets`. */
  async list(tenant: string, range: { fromMs?: number; toMs?: number; beforeUs?: number } = {}): Promise<DatasetRef[]> {
    const { redis, keys } = this.store;
    const { fromMs = 0, toMs = Infinity, beforeUs = Infinity } = range;
    const newest = Math.min(toMs * 1_000 + 999, beforeUs - 1);
    const end = Number.isFinite(newest) ? String(newest) : '+inf';
    const flat = await redis.zrevrangebyscore(keys.evalDatasets(tenant), end, String(fromMs * 1_000), 'WITHSCORES');
    return flat.flatMap((member, i) => (i % 2 === 0 ? [toRef(member, Number(flat[i + 1]))] : []));
  }

  async idOfVersion(tenant: string, name: string, version: string): Promise<string | undefined> {
    const { redis, keys } = this.store;
    return (await redis.hget(keys.evalVersions(tenant), `${name}:${version}`)) ?? undefined;
  }

  /** Highest version of a name; 0 = none. */
  async highestVersion(tenant: string, name: string): Promise<number> {
    return Number((await this.store.redis.hget(this.store.keys.evalVersions(tenant), name)) ?? 0);
  }

  /** @param keepMs retention of runs, for which the entries stay @returns whether there was such a dataset */
  async remove({ id, tenant }: Pick<StoredDataset, 'id' | 'tenant'>, keepMs: number, audit: Audit): Promise<boolean> {
    const { redis, keys } = this.store;
    const texts = [tenant, id, keepMs, ...auditOnly(audit)];
    const [kind] = (await runScript(redis, 'removeEvalDataset', keys.evalDataset(id), ...texts)) as string[];
    return kind === 'removed';
  }
}

/** Names contain no colon. */
function toRef(member: string, createdUs: number): DatasetRef {
  const [name = '', version, id = ''] = member.split(':');
  return { id, name, version: Number(version), createdUs };
}
