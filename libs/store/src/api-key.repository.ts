import { limits, type TenantScope } from '@svc/contract';
import type { Redis } from 'ioredis';
import { keys } from './keys';
import { luaJson } from './lua-json';
import { runScript } from './scripts';

/** A managed API key, as it was created. Its secret is not stored. */
export interface ApiKeyRecord {
  id: string;
  name: string;
  /** First characters of the secret. */
  prefix: string;
  tenant: string;
  scopes: string[];
  /** RFC 3339. */
  created_at: string;
  /** Identity of the caller who created it. */
  created_by: string;
  /** Unix ms; absent = never. */
  expires_ms?: number;
}

/** A key, and how often it was used. */
export interface UsedApiKey {
  record: ApiKeyRecord;
  uses: number;
  /** Unix ms, 0 = never used. */
  lastUsedMs: number;
}

/** Uses of a key since the last report. */
export interface KeyUses {
  id: string;
  count: number;
  /** Unix ms. */
  lastMs: number;
}

interface ChangedApiKey {
  id: string;
  digest: string;
}

type CreateKeyOutcome = { kind: 'created' } | { kind: 'full'; count: number };

/** How long the record of a revoked key is kept. */
const REVOKED_KEEP_SEC = 30 * 86_400;

/** Managed API keys. See docs/reference/access.md#managed-keys. */
export class ApiKeyRepository {
  constructor(private readonly redis: Redis) {}

  /** @param createdUs orders the list of the tenant's keys */
  async create(record: ApiKeyRecord, digest: string, createdUs: number): Promise<CreateKeyOutcome> {
    const { id, tenant } = record;
    const args = [id, tenant, luaJson(record), digest, createdUs, limits.tenantApiKeys];
    const reply = await runScript(this.redis, 'createApiKey', keys.apiKey(id), ...args);
    const [kind, count] = reply as [CreateKeyOutcome['kind'], string?];
    return kind === 'full' ? { kind, count: Number(count) } : { kind };
  }

  /** @param now ISO 8601 @returns `missing` also for a key that is revoked, or of another tenant */
  async revoke(scope: TenantScope, id: string, now: string): Promise<'revoked' | 'missing'> {
    const args = [id, scope, now, REVOKED_KEEP_SEC];
    const reply = await runScript(this.redis, 'revokeApiKey', keys.apiKey(id), ...args);
    return (reply as ['revoked' | 'missing'])[0];
  }

  /** The key with this digest, unless it is revoked; it may have expired. */
  async find(digest: string): Promise<ApiKeyRecord | undefined> {
    const reply = await runScript(this.redis, 'findApiKey', keys.apiKeyDigests(), digest);
    const [kind, document = ''] = reply as ['found' | 'missing', string?];
    return kind === 'found' ? (JSON.parse(document) as ApiKeyRecord) : undefined;
  }

  /** The keys of a tenant that are not revoked, newest first. */
  async list(tenant: string): Promise<UsedApiKey[]> {
    const ids = await this.redis.zrevrange(keys.apiKeysOf(tenant), 0, -1);
    const rows = await Promise.all(
      ids.map((id) => this.redis.hmget(keys.apiKey(id), 'document', 'uses', 'last_used', 'revoked_at')),
    );
    return rows.flatMap(([document, uses, lastUsed, revokedAt]) =>
      // A key may be revoked between the two reads.
      document && !revokedAt
        ? [{ record: JSON.parse(document) as ApiKeyRecord, uses: Number(uses ?? 0), lastUsedMs: Number(lastUsed ?? 0) }]
        : [],
    );
  }

  async countUses(uses: readonly KeyUses[]): Promise<void> {
    const args = uses.flatMap(({ id, count, lastMs }) => [id, count, lastMs]);
    await runScript(this.redis, 'countApiKeyUses', ...args);
  }

  /** Number of changes so far. A key that is read later reflects at least these. */
  async version(): Promise<number> {
    // A pipeline of its own, so that a poll delays no automatic one.
    const [[error, version] = [null, null]] = (await this.redis.pipeline().get(keys.apiKeysVersion()).exec()) ?? [];
    if (error) throw error;
    return Number(version ?? 0);
  }

  /** Keys that changed after a version; of many changes the newest 1,000. */
  async changedSince(version: number): Promise<ChangedApiKey[]> {
    const members = await this.redis.zrangebyscore(keys.apiKeyChanges(), `(${version}`, '+inf');
    return members.map((member) => {
      const [id = '', digest = ''] = member.split(':');
      return { id, digest };
    });
  }
}

/** Changes that are kept for replicas to read. */
export const API_KEY_CHANGES_KEPT = 1_000;
