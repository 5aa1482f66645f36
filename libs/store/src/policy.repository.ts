import type { Redis } from 'ioredis';
import { toReplaceArgs, type ConfigDocument } from './config.repository';
import type { Keys } from './keys';
import { runScript } from './scripts';

/** A snapshot of the policy bundles, without the bundles. See docs/reference/policy.md#bundles. */
export interface PolicySnapshotHead {
  id: string;
  created_at: string;
  note: string;
}

export interface PolicySnapshot extends PolicySnapshotHead {
  /** By id, in stored form. */
  bundles: Readonly<Record<string, unknown>>;
}

/** Snapshots to store. Of several taken at once, the later in the list counts as newer. */
export interface KeptSnapshots {
  nowUs: number;
  taken: readonly PolicySnapshot[];
  /** Ids that must be kept for `holdMs` from now. */
  held?: readonly string[];
  /** Entry (JSON) of the tenant's policy audit, written atomically with the change. */
  audit?: { tenant: string; entry: string };
}

const MAX_SNAPSHOTS = 10;
/** Includes held ones, so that repeated rollbacks cannot fill the store. */
const MAX_WITH_HOLDS = 100;
const holdMs = 24 * 3_600_000;
/** Maximum number of changes in the policy audit of a tenant. */
export const auditKept = 500;
/** Maximum number of calls, separate from changes, so that frequent calls cannot displace a change. */
const callsKept = 500;

/** Snapshots of the policy bundles, and the policy audit. */
export class PolicyRepository {
  constructor(
    private readonly redis: Redis,
    private readonly keys: Keys,
  ) {}

  /**
   * Compare-and-set of the bundles document, together with the snapshots and the audit entry of the change.
   *
   * @returns whether it was written; if not, no snapshot was stored either
   */
  async replace(document: ConfigDocument, readRevision: number, snapshots: KeptSnapshots): Promise<boolean> {
    const key = this.keys.config(document.scope, document.scope_id);
    const reply = await runScript(
      this.redis,
      'writePolicy',
      key,
      ...toPolicyWriteArgs(document, readRevision, snapshots),
    );
    return (reply as [string])[0] === 'written';
  }

  /** Stores snapshots, and removes the oldest over 10 that are not held. */
  async keep(snapshots: KeptSnapshots): Promise<void> {
    await runScript(this.redis, 'writePolicy', this.keys.bundleSnapshots(), ...untouched, ...keptWith(snapshots));
  }

  /** Newest first. */
  async snapshots(): Promise<PolicySnapshotHead[]> {
    const ids = await this.redis.zrevrange(this.keys.bundleSnapshots(), 0, -1);
    if (ids.length === 0) return [];
    const heads = await this.redis.hmget(this.keys.bundleSnapshotHeads(), ...ids);
    return heads.flatMap((text) => (text ? [JSON.parse(text) as PolicySnapshotHead] : []));
  }

  async snapshot(id: string): Promise<PolicySnapshot | undefined> {
    const [[, head] = [], [, body] = []] =
      (await this.redis
        .multi()
        .hget(this.keys.bundleSnapshotHeads(), id)
        .hget(this.keys.bundleSnapshotBodies(), id)
        .exec()) ?? [];
    if (typeof head !== 'string' || typeof body !== 'string') return undefined;
    return {
      ...(JSON.parse(head) as PolicySnapshotHead),
      bundles: JSON.parse(body) as PolicySnapshot['bundles'],
    };
  }

  /** Appends the entry (JSON) of a change to a tenant's policy audit, limited to the newest 500. */
  async recordAudit(tenant: string, entry: string): Promise<void> {
    await this.append(this.keys.policyAudit(tenant), entry, auditKept);
  }

  /** Appends the entry (JSON) of a read-only call, limited to the newest 500. */
  async recordCall(tenant: string, entry: string): Promise<void> {
    await this.append(this.keys.policyAuditCalls(tenant), entry, callsKept);
  }

  /** All changes in a tenant's policy audit, newest first. */
  async audit(tenant: string): Promise<string[]> {
    const lists = [this.keys.policyAudit(tenant), this.keys.earlierPolicyAudit(tenant)];
    const entries = await Promise.all(lists.map((list) => this.redis.lrange(list, 0, -1)));
    return entries.flat();
  }

  /** All calls in a tenant's policy audit, newest first. */
  async calls(tenant: string): Promise<string[]> {
    return this.redis.lrange(this.keys.policyAuditCalls(tenant), 0, -1);
  }

  private async append(key: string, entry: string, keep: number): Promise<void> {
    const replies = await this.redis
      .multi()
      .lpush(key, entry)
      .ltrim(key, 0, keep - 1)
      .exec();
    for (const [error] of replies ?? []) if (error) throw error;
  }
}

/** Arguments that keep the document unchanged. */
const untouched = [0, '', '', '', 0, '', 0];

/** Arguments of the script `writePolicy` for a change. */
export const toPolicyWriteArgs = (
  document: ConfigDocument,
  readRevision: number,
  kept: KeptSnapshots,
): (string | number)[] => [...toReplaceArgs(document, readRevision), ...keptWith(kept)];

/** Arguments of the script `writePolicy` for an audit entry only. */
export const auditOnly = (audit: NonNullable<KeptSnapshots['audit']>): (string | number)[] => [
  ...untouched,
  ...keptWith({ nowUs: 0, taken: [], audit }),
];

function keptWith({ nowUs, taken, held = [], audit }: KeptSnapshots): (string | number)[] {
  const nowMs = Math.floor(nowUs / 1_000);
  const parts = taken.flatMap(({ bundles, ...head }, i) => [
    head.id,
    nowUs + i,
    JSON.stringify(head),
    JSON.stringify(bundles),
  ]);
  const limits = [nowMs, MAX_SNAPSHOTS, MAX_WITH_HOLDS, nowMs + holdMs];
  const entry = [audit?.tenant ?? '', audit?.entry ?? '', auditKept];
  return [...limits, ...entry, taken.length, ...parts, ...held];
}
