import { type AuditAct, limits } from '@svc/contract';
import { canonicalHash } from '@svc/json';
import { keys, luaJson, runScript } from '@svc/store';
import type { Redis } from 'ioredis';

export interface GroupRecord {
  id: string;
  /** As written; unique ignoring case. In lower case, it names the role of the members. */
  display_name: string;
  /** Id that the client uses. */
  external_id?: string;
  /** Ids of users. */
  members: readonly string[];
  /** ISO 8601. */
  created_at: string;
  updated_at: string;
}

export interface StoredGroup {
  group: GroupRecord;
  /** Number of its changes. */
  revision: number;
}

interface GroupWrite {
  id: string;
  /** Undefined removes the group. */
  group: GroupRecord | undefined;
  /** The group as it was read; undefined = new. */
  before: StoredGroup | undefined;
  /** Users whose role the change may determine. They are listed until `settle`. */
  roleChanges: readonly string[];
  act: AuditAct;
}

type GroupWriteOutcome =
  { kind: 'written'; revision: number } | { kind: 'changed' | 'taken' } | { kind: 'full'; count: number };

/** Records that are read by one pipeline. */
const CHUNK = 500;

/** SCIM groups, and the users whose role is not yet as their groups want it. */
export class GroupRepository {
  constructor(private readonly redis: Redis) {}

  /** Compare-and-set on the revision. Safe to repeat: a repeated call finds the group changed. */
  async write(tenant: string, { id, group, before, roleChanges, act }: GroupWrite): Promise<GroupWriteOutcome> {
    const [now, then] = [new Set(group?.members), new Set(before?.group.members)];
    const hash = group ? canonicalHash(group) : '';
    const args = [
      id,
      tenant,
      group ? JSON.stringify(group) : '',
      before?.revision ?? 0,
      group?.display_name.toLowerCase() ?? '',
      limits.scimGroups,
      [...now].filter((user) => !then.has(user)).join('\n'),
      [...then].filter((user) => !now.has(user)).join('\n'),
      roleChanges.join('\n'),
      hash,
      luaJson({ ...act, extra: { ...act.extra, ...(hash && { after_hash: hash }) } }),
    ];
    const [kind, detail] = (await runScript(this.redis, 'writeScimGroup', keys.scimGroup(id), ...args)) as string[];
    if (kind === 'written') return { kind, revision: Number(detail) };
    return kind === 'full' ? { kind, count: Number(detail) } : { kind: kind as 'changed' | 'taken' };
  }

  async get(id: string): Promise<StoredGroup | undefined> {
    const [found] = await this.getSome([id]);
    return found;
  }

  async list(): Promise<StoredGroup[]> {
    return this.getSome(await this.redis.hvals(keys.scimGroups()));
  }

  async findByName(name: string): Promise<StoredGroup | undefined> {
    const id = await this.redis.hget(keys.scimGroups(), name.toLowerCase());
    return id === null ? undefined : this.get(id);
  }

  /** The groups that a user is a member of. */
  async listWith(user: string): Promise<StoredGroup[]> {
    return this.getSome(await this.redis.smembers(keys.scimGroupsWith(user)));
  }

  /**
   * Users whose groups changed, each with the number of changes.
   *
   * @param ids undefined = some of all
   */
  async listRoleChanges(ids?: readonly string[]): Promise<[user: string, changes: string][]> {
    if (ids?.length === 0) return [];
    if (ids) {
      const counts = await this.redis.hmget(keys.scimRoleChanges(), ...ids);
      return ids.flatMap((id, i): [string, string][] => (counts[i] ? [[id, counts[i]]] : []));
    }
    const [, rows] = await this.redis.hscan(keys.scimRoleChanges(), '0', 'COUNT', CHUNK);
    return rows.flatMap((row, i): [string, string][] => (i % 2 === 0 ? [[row, rows[i + 1] ?? '']] : []));
  }

  /** Ends the listing of a user, unless the user's groups changed again. @param changes see `listRoleChanges` */
  async settle(user: string, changes: string): Promise<void> {
    await runScript(this.redis, 'settleScimRole', keys.scimRoleChanges(), user, changes);
  }

  private async getSome(ids: readonly string[]): Promise<StoredGroup[]> {
    const found: StoredGroup[] = [];
    for (let at = 0; at < ids.length; at += CHUNK) {
      const pipeline = this.redis.pipeline();
      for (const id of ids.slice(at, at + CHUNK)) pipeline.hmget(keys.scimGroup(id), 'document', 'revision');
      for (const [error, fields] of (await pipeline.exec()) ?? []) {
        if (error) throw error;
        const [document, revision] = fields as (string | null)[];
        if (document) found.push({ group: JSON.parse(document) as GroupRecord, revision: Number(revision) });
      }
    }
    return found;
  }
}
