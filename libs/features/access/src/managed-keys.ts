import { getScopedRole, joinIdentities, type Identity, type KeySource } from '@svc/identity';
import type { Clock } from '@svc/platform';
import { API_KEY_CHANGES_KEPT, type ApiKeyRecord, type ApiKeyRepository, type KeyUses } from '@svc/store';

interface ManagedKeysDeps {
  apiKeys: Pick<ApiKeyRepository, 'find' | 'version' | 'changedSince' | 'countUses'>;
  clock: Pick<Clock, 'nowMs'>;
  /** Called after a key was created or revoked, here or at another replica; undefined = any key may have been. */
  onChanged(id: string | undefined): void;
}

/** A revoked key is valid for no longer, even while Redis does not answer `sync`. */
const MAX_STALE_MS = 1_000;
/** Bounds the memory of keys that are no longer used. */
const KEEP_MS = 60_000;
const MAX_FOUND = 10_000;
/** Digests that belong to no key. Kept apart, so that guesses displace no valid key. */
const MAX_MISSING = 1_000;

interface Cached {
  identity: Identity | undefined;
  untilMs: number;
}

/**
 * Managed API keys, read from Redis and kept in memory for a short time. `sync`, which runs twice a second, drops those that
 * changed; keys in memory count only if it has succeeded within the last second. See docs/reference/access.md#managed-keys.
 */
export class ManagedKeys implements KeySource {
  private readonly found = new Map<string, Cached>();
  private readonly missing = new Map<string, Cached>();
  private readonly uses = new Map<string, { count: number; lastMs: number }>();
  private version = -1;
  private syncedMs = Number.NEGATIVE_INFINITY;
  /** Number of changes that were applied, so that a read that began before one is not kept. */
  private applied = 0;

  constructor(private readonly deps: ManagedKeysDeps) {}

  find(digest: string): Identity | undefined | Promise<Identity | undefined> {
    const nowMs = this.deps.clock.nowMs();
    const isCurrent = nowMs - this.syncedMs < MAX_STALE_MS;
    const cached = this.found.get(digest) ?? this.missing.get(digest);
    if (isCurrent && cached && nowMs < cached.untilMs) return unlessExpired(cached.identity, nowMs);
    return this.read(digest, nowMs).then((identity) => unlessExpired(identity, this.deps.clock.nowMs()));
  }

  private async read(digest: string, nowMs: number): Promise<Identity | undefined> {
    const { applied } = this;
    const record = await this.deps.apiKeys.find(digest);
    const identity = record && toIdentity(record, digest);
    if (applied === this.applied) this.keep(digest, { identity, untilMs: nowMs + KEEP_MS });
    return identity;
  }

  private keep(digest: string, cached: Cached): void {
    this.found.delete(digest);
    this.missing.delete(digest);
    const [place, most] = cached.identity ? [this.found, MAX_FOUND] : [this.missing, MAX_MISSING];
    place.set(digest, cached);
    for (const [oldest] of place) {
      if (place.size <= most) break;
      place.delete(oldest);
    }
  }

  /** Applies changes of keys: one small read. */
  async sync(): Promise<void> {
    const startedMs = this.deps.clock.nowMs();
    const version = await this.deps.apiKeys.version();
    if (version !== this.version) await this.apply(version);
    this.syncedMs = Math.max(this.syncedMs, startedMs);
  }

  private async apply(version: number): Promise<void> {
    const missed = version - this.version;
    // A lower version is that of a restored backup.
    const isListed = this.version >= 0 && missed > 0 && missed <= API_KEY_CHANGES_KEPT;
    const listed = isListed ? await this.deps.apiKeys.changedSince(this.version) : undefined;
    // A change without a key is that of a user, who may have made any of them.
    const changes = listed?.every(({ digest }) => digest !== '') ? listed : undefined;
    const isFirst = this.version < 0;
    this.applied += 1;
    if (changes) {
      for (const { digest } of changes) {
        this.found.delete(digest);
        this.missing.delete(digest);
      }
    } else {
      this.found.clear();
      this.missing.clear();
    }
    this.version = version;
    if (changes) for (const { id } of changes) this.deps.onChanged(id);
    else if (!isFirst) this.deps.onChanged(undefined);
  }

  /** Counts a use of a managed key; other credentials are ignored. `flush` stores the counts. */
  countUse({ keyId, isManagedKey }: Identity): void {
    if (!isManagedKey) return;
    const count = (this.uses.get(keyId)?.count ?? 0) + 1;
    this.uses.set(keyId, { count, lastMs: this.deps.clock.nowMs() });
  }

  /** Stores the uses since the last call, in one write. After a failure they are stored by the next call. */
  async flush(): Promise<void> {
    if (this.uses.size === 0) return;
    const taken: KeyUses[] = [...this.uses].map(([id, uses]) => ({ id, ...uses }));
    this.uses.clear();
    try {
      // A crash here loses the uses of one second.
      await this.deps.apiKeys.countUses(taken);
    } catch (error) {
      for (const { id, count, lastMs } of taken) {
        const later = this.uses.get(id);
        this.uses.set(id, { count: count + (later?.count ?? 0), lastMs: Math.max(lastMs, later?.lastMs ?? 0) });
      }
      throw error;
    }
  }
}

const unlessExpired = (identity: Identity | undefined, nowMs: number): Identity | undefined =>
  (identity?.expiresAtMs ?? Infinity) > nowMs ? identity : undefined;

const toIdentity = (record: ApiKeyRecord, digest: string): Identity => ({
  tenant: record.tenant,
  principalId: '',
  role: getScopedRole(record.scopes),
  keyId: record.id,
  keyName: record.name,
  isManagedKey: true,
  allowCrossTenant: false,
  source: 'api_key',
  // With its makers, so that they cannot approve their own jobs through it.
  submitter: joinIdentities(`apikey:${digest.slice(0, 16)}`, record.created_by),
  ...(record.scopes.length > 0 && { scopes: record.scopes }),
  ...(record.expires_ms !== undefined && { expiresAtMs: record.expires_ms }),
});
