import { workerRedisUser } from '@svc/contract';
import { workerRedisRules } from '@svc/store';
import type { Redis } from 'ioredis';
import type { AccessTarget } from './store-access';
import { type AccessChanges, type AccessList, countChanges } from './worker-secrets';

const PREFIX = workerRedisUser('');
const BATCH_SIZE = 500;

/**
 * Lets workers connect to Redis: makes its users equal to the credentials of the default tenant, whose workers serve all tenants.
 * The names of keys contain no tenant, so workers of one tenant use data URLs, which open the data of their jobs only. Redis forgets users that were created at runtime
 * when it restarts, so all are compared again after each connection.
 */
export class RedisAccess implements AccessTarget {
  readonly store = 'redis';
  private isStale = true;
  /** Rules may differ in another version of this program, so the first pass sets those of every user. */
  private hasSetRules = false;

  /** @param admin a connection that may run ACL LIST, SETUSER and DELUSER */
  constructor(
    private readonly admin: Redis,
    private readonly defaultTenant: string,
  ) {
    admin.on('ready', () => (this.isStale = true));
  }

  async isCurrent(): Promise<boolean> {
    return !this.isStale;
  }

  async apply(workers: AccessList): Promise<AccessChanges> {
    // Before the read: a connection that is lost after it makes the result stale again.
    this.isStale = false;
    try {
      return await this.reconcile(workers);
    } catch (error) {
      this.isStale = true;
      throw error;
    }
  }

  private async reconcile(workers: AccessList): Promise<AccessChanges> {
    const found = readUsers((await this.admin.call('ACL', 'LIST')) as string[]);
    const served = [...workers].filter(([, { tenant }]) => tenant === this.defaultTenant);
    const wanted = new Map(served.map(([id, { redisDigest }]) => [workerRedisUser(id), redisDigest]));
    const commands: string[][] = [];
    for (const name of found.keys()) if (!wanted.has(name)) commands.push(['ACL', 'DELUSER', name]);
    for (const [name, digest] of wanted) {
      const known = found.get(name);
      if (known === digest && this.hasSetRules) continue;
      // Only the deletion of a user ends its connections.
      if (known !== undefined && known !== digest) commands.push(['ACL', 'DELUSER', name]);
      commands.push(['ACL', 'SETUSER', name, 'reset', 'on', `#${digest}`, ...workerRedisRules]);
    }
    for (let at = 0; at < commands.length; at += BATCH_SIZE) await this.run(commands.slice(at, at + BATCH_SIZE));
    this.hasSetRules = true;
    return countChanges(found, wanted, (a, b) => a === b);
  }

  private async run(commands: readonly string[][]): Promise<void> {
    const pipeline = this.admin.pipeline();
    for (const [name = '', ...args] of commands) pipeline.call(name, ...args);
    for (const [error] of (await pipeline.exec()) ?? []) if (error) throw error;
  }
}

/** The users of workers in the answer of ACL LIST, with the digest of their password; '' for several or none. */
function readUsers(lines: readonly string[]): Map<string, string> {
  const users = new Map<string, string>();
  for (const line of lines) {
    const [, name = '', ...rules] = line.split(' ');
    if (!name.startsWith(PREFIX)) continue;
    const digests = rules.filter((rule) => rule.startsWith('#'));
    users.set(name, digests.length === 1 && rules.includes('on') ? (digests[0] ?? '').slice(1) : '');
  }
  return users;
}
