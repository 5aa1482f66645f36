import type { Redis } from 'ioredis';
import { replacementOf, type ConfigDocument } from './config.repository';
import { keys } from './keys';
import { runScript } from './scripts';

/** A snapshot of the policy bundles, without the bundles. See docs/reference/policy.md#bundles. */
export interface PolicySnapshotHead {
  id: string;
  created_at: string;
  note: string;
}

export interface PolicySnapshot extends PolicySnapshotHead {
  /** By id, as they were stored. */
  bundles: Readonly<Record<string, unknown>>;
}

/** Snapshots to keep. Of two that are taken at once, the later in the list counts as the newer. */
export interface KeptSnapshots {
  nowUs: number;
  taken: readonly PolicySnapshot[];
  /** Ids that must not be dropped for `holdMs` from now. */
  held?: readonly string[];
  /** Entry (JSON) of the tenant's policy audit, written with the change or not at all. */
  audit?: { tenant: string; entry: string };
}

const kept = 10;
/** Held ones count too: whoever rolls back all day long cannot fill the store. */
const keptAtMost = 100;
const holdMs = 24 * 3_600_000;
/** Newest entries of changes that a tenant's policy audit keeps. */
export const auditKept = 500;
/** Newest entries of calls that it keeps, apart from those of changes: frequent calls must not displace a change. */
const callsKept = 500;

/** Snapshots of the policy bundles, and who changed policies when. */
export class PolicyRepository {
  constructor(private readonly redis: Redis) {}

  /**
   * Compare-and-set of the document that holds the bundles, together with the snapshots and the audit entry of the change.
   *
   * @returns whether it was written; if not, no snapshot was kept either
   */
  async replace(document: ConfigDocument, readRevision: number, snapshots: KeptSnapshots): Promise<boolean> {
    const key = keys.config(document.scope, document.scope_id);
    const reply = await runScript(this.redis, 'writePolicy', key, ...policyWriteOf(document, readRevision, snapshots));
    return (reply as [string])[0] === 'written';
  }

  /** Keeps snapshots, and drops the oldest beyond 10 that nothing holds. */
  async keep(snapshots: KeptSnapshots): Promise<void> {
    await runScript(this.redis, 'writePolicy', keys.bundleSnapshots(), ...untouched, ...keptWith(snapshots));
  }

  /** Newest first. */
  async snapshots(): Promise<PolicySnapshotHead[]> {
    const ids = await this.redis.zrevrange(keys.bundleSnapshots(), 0, -1);
    if (ids.length === 0) return [];
    const heads = await this.redis.hmget(keys.bundleSnapshotHeads(), ...ids);
    return heads.flatMap((text) => (text ? [JSON.parse(text) as PolicySnapshotHead] : []));
  }

  async snapshot(id: string): Promise<PolicySnapshot | undefined> {
    const [[, head] = [], [, body] = []] =
      (await this.redis.multi().hget(keys.bundleSnapshotHeads(), id).hget(keys.bundleSnapshotBodies(), id).exec()) ??
      [];
    if (typeof head !== 'string' || typeof body !== 'string') return undefined;
    return {
      ...(JSON.parse(head) as PolicySnapshotHead),
      bundles: JSON.parse(body) as PolicySnapshot['bundles'],
    };
  }

  /** Appends the entry (JSON) of a change to a tenant's policy audit, of which the newest 500 stay. */
  async recordAudit(tenant: string, entry: string): Promise<void> {
    await this.append(keys.policyAudit(tenant), entry, auditKept);
  }

  /** Appends the entry (JSON) of a call that changed nothing, of which the newest 500 stay. */
  async recordCall(tenant: string, entry: string): Promise<void> {
    await this.append(keys.policyAuditCalls(tenant), entry, callsKept);
  }

  /** Every entry of a change in a tenant's policy audit, newest first. */
  async audit(tenant: string): Promise<string[]> {
    return this.redis.lrange(keys.policyAudit(tenant), 0, -1);
  }

  /** Every entry of a call in a tenant's policy audit, newest first. */
  async calls(tenant: string): Promise<string[]> {
    return this.redis.lrange(keys.policyAuditCalls(tenant), 0, -1);
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

/** For what leaves the document as it is. */
const untouched = [0, '', '', '', 0, '', 0];

/** What the script `writePolicy` is told of a change. */
export const policyWriteOf = (
  document: ConfigDocument,
  readRevision: number,
  kept: KeptSnapshots,
): (string | number)[] => [...replacementOf(document, readRevision), ...keptWith(kept)];

/** The same, of a change elsewhere that the policy audit is told of. */
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
  const limits = [nowMs, kept, keptAtMost, nowMs + holdMs];
  const entry = [audit?.tenant ?? '', audit?.entry ?? '', auditKept];
  return [...limits, ...entry, taken.length, ...parts, ...held];
}
