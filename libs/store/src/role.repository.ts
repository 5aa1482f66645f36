import type { Role } from '@svc/contract';
import type { Redis } from 'ioredis';
import { keys } from './keys';
import { luaJson } from './lua-json';
import { runScript } from './scripts';

/** A role, as it is stored. */
export interface StoredRole extends Role {
  /** RFC 3339. */
  created_at: string;
  updated_at: string;
}

/** All stored roles at a version. */
export interface StoredRoles {
  version: number;
  roles: ReadonlyMap<string, StoredRole>;
}

export type RoleWriteOutcome = { kind: 'written' | 'changed' } | { kind: 'in_use'; users: number };

/** Roles of the installation. See docs/reference/access.md#roles. */
export class RoleRepository {
  constructor(private readonly redis: Redis) {}

  /** Number of changes so far; 0 = there are no stored roles. */
  async version(): Promise<number> {
    // A pipeline of its own, so that a poll delays no automatic one.
    const [[error, version] = [null, null]] = (await this.redis.pipeline().get(keys.rolesVersion()).exec()) ?? [];
    if (error) throw error;
    return Number(version ?? 0);
  }

  async read(): Promise<StoredRoles> {
    const [version, documents] = (await this.redis.multi().get(keys.rolesVersion()).hgetall(keys.roles()).exec()) ?? [];
    const error = version?.[0] ?? documents?.[0];
    if (error) throw error;
    const stored = Object.entries((documents?.[1] ?? {}) as Record<string, string>);
    return {
      version: Number(version?.[1] ?? 0),
      roles: new Map(stored.map(([name, document]) => [name, JSON.parse(document) as StoredRole])),
    };
  }

  /**
   * Compare-and-set on the version of all roles. A role that users have, of any tenant and disabled ones included, is not removed.
   *
   * @param changes by name; undefined removes a role
   */
  async write(expected: number, changes: ReadonlyMap<string, StoredRole | undefined>): Promise<RoleWriteOutcome> {
    const pairs = [...changes].flatMap(([name, role]) => [name, role ? luaJson(role) : '']);
    const reply = await runScript(this.redis, 'writeRoles', keys.roles(), expected, ...pairs);
    const [kind, detail] = reply as [RoleWriteOutcome['kind'], string];
    return kind === 'in_use' ? { kind, users: Number(detail) } : { kind };
  }
}
