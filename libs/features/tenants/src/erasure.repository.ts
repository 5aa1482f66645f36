import { findKeyName, keys as shared, type KeyName, type Keys } from '@svc/store';
import { isRecord } from '@svc/json';
import type { Redis } from 'ioredis';
import { documentOwners, hashOwners, namedAfter, parts, prefixes } from './tenant-keys';

/** `parts`: keys that are found through a record. `records`: these records, and keys named after the tenant. */
type ErasurePass = 'parts' | 'records';

const SCAN_COUNT = 1_000;
/** Lists of a queue, and keys of an entry, as BullMQ names them. */
const sortedLists = ['prioritized', 'delayed', 'waiting-children', 'completed', 'failed'];
const entryParts = ['dependencies', 'processed', 'failed', 'unsuccessful', 'logs', 'lock'];
/** Lists of the installation with entries (JSON) that name their tenant. */
const namedEntries = ['endedRuns', 'limitsDue'] as const;

/** Removes the keys of a tenant. Every method may be repeated. */
export class ErasureRepository {
  constructor(
    private readonly redis: Redis,
    private readonly keys: Keys,
  ) {}

  /** Scans all keys once, while the tenant is being deleted. @returns number of keys removed */
  async pass(tenant: string, pass: ErasurePass): Promise<number> {
    const named = namedAfter(tenant);
    const configs = new Set(await this.redis.smembers(this.keys.configsOf(tenant)));
    const isConfig = (place: string) => configs.has(place) || place === `org:${tenant}`;
    let removed = 0;
    for await (const batch of this.redis.scanStream({ count: SCAN_COUNT })) {
      const names = batch as string[];
      const owned = await Promise.all(
        names.map(async (key) => {
          if (named.test(key)) return pass === 'records';
          const name = findKeyName(key);
          if (name === undefined) return false;
          if (name === 'queue') return pass === 'parts' && this.removeEntry(tenant, key);
          if (name === 'config' || name === 'configHistory')
            return pass === 'parts' && isConfig(key.slice((prefixes[name] ?? '').length));
          return (pass === 'parts') === !isOwner(name) && this.isOwned(tenant, name, key);
        }),
      );
      const mine = names.filter((_, i) => owned[i]);
      if (mine.length === 0) continue;
      // Another process may have completed the deletion, and the tenant may have been created again.
      if ((await this.redis.hget(this.keys.tenant(tenant), 'status')) !== 'deleting') return removed;
      removed += await this.redis.unlink(...mine);
    }
    if (pass === 'parts' && configs.size > 0) await this.redis.hdel(this.keys.configRevisions(), ...configs);
    return removed;
  }

  private async isOwned(tenant: string, name: KeyName, key: string): Promise<boolean> {
    if (hashOwners.has(name)) return (await this.tenantIn(key)) === tenant;
    if (documentOwners.has(name) || name === 'memoryOwner') return (await this.tenantIn(key)) === tenant;
    if (name === 'trace') {
      const jobs = await this.redis.zrange(key, '0', '0');
      return jobs[0] !== undefined && (await this.tenantIn(this.keys.job(jobs[0]))) === tenant;
    }
    const owners = parts[name]?.(this.keys, key.slice((prefixes[name] ?? '').length)) ?? [];
    for (const owner of owners) {
      const found = await this.tenantIn(owner);
      if (found !== undefined) return found === tenant;
    }
    return false;
  }

  /** Removes a queue entry of the tenant from its queue. @returns whether the key is such an entry, which the caller deletes */
  private async removeEntry(tenant: string, key: string): Promise<boolean> {
    if ((await this.redis.type(key)) !== 'hash') return false;
    const text = await this.redis.hget(key, 'data');
    if (!text) return false;
    const data: unknown = JSON.parse(text);
    const named = isRecord(data) ? Object.values(data).filter((value) => typeof value === 'string') : [];
    const owners = named.flatMap((id) => [this.keys.job(id), this.keys.run(id)]);
    const tenants = await Promise.all(owners.map((owner) => this.tenantIn(owner)));
    if (!named.includes(tenant) && !tenants.includes(tenant)) return false;
    const start = key.indexOf(':', key.indexOf(':') + 1) + 1;
    const [queue, id] = [key.slice(0, start), key.slice(start)];
    const removal = this.redis.multi();
    for (const list of ['wait', 'active', 'paused']) removal.lrem(queue + list, 0, id);
    for (const list of sortedLists) removal.zrem(queue + list, id);
    removal.unlink(...entryParts.map((part) => `${key}:${part}`));
    await removal.exec();
    return true;
  }

  /** Tenant in a record; undefined when there is no such record. */
  private async tenantIn(key: string): Promise<string | undefined> {
    const type = await this.redis.type(key);
    if (type === 'hash') return (await this.redis.hget(key, 'tenant')) ?? undefined;
    if (type !== 'string') return undefined;
    const text = (await this.redis.get(key)) ?? '';
    if (!text.startsWith('{')) return text;
    const document: unknown = JSON.parse(text);
    return isRecord(document) && typeof document['tenant'] === 'string' ? document['tenant'] : undefined;
  }

  /** Removes the entries of a tenant from lists that all tenants share. */
  async removeEntries(tenant: string, workers: readonly string[]): Promise<void> {
    const { redis, keys } = this;
    for (const name of namedEntries) {
      for (const entry of await redis.zrange(keys[name](), '0', '-1')) {
        if (namesTenant(tenant, entry)) await redis.zrem(keys[name](), entry);
      }
    }
    for (const entry of await redis.smembers(keys.limitsUsed()))
      if (namesTenant(tenant, entry)) await redis.srem(keys.limitsUsed(), entry);
    for (const run of await redis.zrange(keys.liveRuns(), '0', '-1'))
      if ((await this.tenantIn(keys.run(run))) === tenant) await redis.zrem(keys.liveRuns(), run);
    for await (const lists of redis.scanStream({ match: keys.workerJobs('*'), count: SCAN_COUNT })) {
      for (const list of lists as string[]) {
        for (const job of await redis.lrange(list, 0, -1))
          if ((await this.tenantIn(keys.job(job))) === tenant) await redis.lrem(list, 0, job);
      }
    }
    for await (const pools of redis.scanStream({ match: keys.agentsOfPool('*'), count: SCAN_COUNT })) {
      for (const pool of pools as string[]) {
        for (const agent of await redis.smembers(pool))
          if ((await this.tenantIn(keys.agent(agent))) === tenant) await redis.srem(pool, agent);
      }
    }
    const users = (await redis.zrange(shared.usersOf(tenant), '0', '-1')).map((name) =>
      name.slice(name.lastIndexOf('\t') + 1),
    );
    for await (const roles of redis.scanStream({ match: shared.usersInRole('*'), count: SCAN_COUNT })) {
      for (const role of roles as string[]) if (users.length > 0) await redis.srem(role, ...users);
    }
    await redis.srem(shared.shadowTenants(), tenant);
    await redis.hdel(keys.holdSweeps(), tenant);
    if (workers.length === 0) return;
    const { workerCredentials, workerCredentialHashes, workerTokens, workerTokensVerified, workerSessions } = shared;
    const hashes = [workerCredentials, workerCredentialHashes, workerTokens, workerTokensVerified, workerSessions];
    for (const hash of [...hashes, shared.workerCredentialsRevoked]) await redis.hdel(hash(), ...workers);
    await redis.srem(shared.workerCredentialsActive(), ...workers);
  }

  /** Ids of the workflows and schemas of a tenant. */
  async ids(tenant: string): Promise<{ workflows: string[]; schemas: string[] }> {
    const [workflows, schemas] = await Promise.all([
      this.redis.zrange(this.keys.workflows(tenant), '0', '-1'),
      this.redis.zrange(shared.schemasOf(tenant), '0', '-1'),
    ]);
    return { workflows, schemas };
  }

  /** Some jobs of a tenant in these states, and its runs in these. */
  async open(
    tenant: string,
    { states, statuses, count }: { states: readonly string[]; statuses: readonly string[]; count: number },
  ): Promise<{ jobs: string[]; runs: string[] }> {
    const read = (names: readonly string[]) =>
      Promise.all(names.map((name) => this.redis.zrange(name, '0', String(count - 1)))).then((pages) => pages.flat());
    return {
      jobs: await read(states.map((state) => this.keys.jobsInState(tenant, state))),
      runs: await read(statuses.map((status) => this.keys.runsInStatus(tenant, status))),
    };
  }
}

const isOwner = (name: KeyName): boolean => hashOwners.has(name) || documentOwners.has(name) || name === 'memoryOwner';

function namesTenant(tenant: string, entry: string): boolean {
  const parsed: unknown = JSON.parse(entry);
  const named = Array.isArray(parsed) ? parsed : isRecord(parsed) ? Object.values(parsed) : [];
  return named.includes(tenant);
}
