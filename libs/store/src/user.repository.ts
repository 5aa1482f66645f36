import { limits, type AuditAct } from '@svc/contract';
import { canonicalHash } from '@svc/json';
import type { Redis } from 'ioredis';
import { keys } from './keys';
import { luaJson } from './lua-json';
import { runScript } from './scripts';

/** Who created a user: the users API or the first start, a sign-in at a provider, or SCIM. */
type UserSource = 'user' | 'oidc' | 'saml' | 'scim';

/** A second factor of a password sign-in. */
export interface StoredFactor {
  /** The secret, sealed. */
  secret: string;
  /** SHA-256 (hex) of the recovery codes that were not used. */
  recovery: readonly string[];
  /** Time step of the last code that was accepted: no code is accepted twice. */
  last_step?: number;
  /** The user has entered a code once; before that, sign-in does not ask for one. */
  confirmed?: boolean;
}

/** What only SCIM clients see of a user. */
export interface ScimUserFacts {
  /** The whole name, where it is not derived from its parts. */
  formatted?: string;
  /** The client has set this for the only address. */
  email_primary?: boolean;
  role_display?: string;
  /** Time at which a client deleted the user, who is disabled since. */
  deleted_at?: string;
}

export interface UserRecord {
  id: string;
  tenant: string;
  /** As written; unique in its tenant, ignoring case, also among disabled users. */
  username: string;
  /** Unique among the enabled users of its tenant, ignoring case. */
  email?: string;
  display_name?: string;
  given_name?: string;
  family_name?: string;
  role: string;
  disabled?: boolean;
  source: UserSource;
  /** Identities at providers: SHA-256 (hex) of `<issuer>\n<subject>`. */
  subjects?: readonly string[];
  /** Id that the SCIM client uses. */
  external_id?: string;
  scim?: ScimUserFacts;
  /** Argon2id hash as PHC string; absent = the user cannot sign in by password. */
  password?: string;
  totp?: StoredFactor;
  /** ISO 8601, as the times below: the last synchronization by a provider. */
  synced_at?: string;
  created_at: string;
  updated_at: string;
  last_login_at?: string;
}

export interface StoredUser {
  user: UserRecord;
  /** Number of its changes. */
  revision: number;
  /** Sessions are valid for one generation of their user. */
  generation: number;
}

export interface UserWrite {
  user: UserRecord;
  /** The revision as it was read; 0 = new. */
  expected: number;
  /** Ends the sessions; disabling the user or replacing the password does so anyway. */
  endSessions?: boolean;
  /** The password hash is replaced by one of the same password, which ends no session. */
  rehashed?: boolean;
  /** Refuses to leave the tenant without an enabled user of role admin. */
  keepAdmin?: boolean;
  /** How the change is recorded in the audit chain of the user's tenant. */
  act: AuditAct;
}

/** What a user is found by, besides the id. */
export type UserLookup = 'name' | 'email' | 'subject' | 'external';

type UserWriteOutcome =
  | { kind: 'written'; revision: number; generation: number }
  | { kind: 'changed' | 'last_admin' }
  | { kind: 'taken'; lookup: UserLookup }
  | { kind: 'full'; count: number };

const recordFields = ['document', 'password', 'factor', 'revision', 'generation'] as const;
/** Records that are read by one pipeline. */
const CHUNK = 500;

/** Users of all tenants. Names, e-mail addresses and external ids are found ignoring case. */
export class UserRepository {
  constructor(private readonly redis: Redis) {}

  /** Compare-and-set on the revision. Safe to repeat: a repeated call finds the record changed. */
  async write({ user, expected, endSessions, rehashed, keepAdmin, act }: UserWrite): Promise<UserWriteOutcome> {
    const { id, tenant, role, disabled, username } = user;
    const { password = '', totp, ...document } = user;
    const hash = canonicalHash(document);
    const args = [
      id,
      tenant,
      JSON.stringify(document),
      expected,
      password,
      totp ? JSON.stringify(totp) : '',
      listLookups(user).join('\n'),
      `${username.toLowerCase()}\t${id}`,
      role,
      disabled ? '1' : '',
      endSessions ? 'end' : rehashed ? 'rehash' : '',
      keepAdmin ? '1' : '',
      limits.tenantUsers,
      hash,
      luaJson({ ...act, extra: { ...act.extra, after_hash: hash } }),
    ];
    const reply = (await runScript(this.redis, 'writeUser', keys.user(id), ...args)) as [string, string, string];
    const [kind, detail, generation] = reply;
    if (kind === 'written') return { kind, revision: Number(detail), generation: Number(generation) };
    if (kind === 'taken') return { kind, lookup: detail as UserLookup };
    if (kind === 'full') return { kind, count: Number(detail) };
    return { kind: kind as 'changed' | 'last_admin' };
  }

  async get(id: string): Promise<StoredUser | undefined> {
    return toStored(await this.redis.hmget(keys.user(id), ...recordFields));
  }

  findByName = (tenant: string, username: string) => this.find(tenant, 'name', username.toLowerCase());

  /** Only enabled users are found by their e-mail address. */
  findByEmail = (tenant: string, email: string) => this.find(tenant, 'email', email.toLowerCase());

  /** @param subject SHA-256 (hex) of `<issuer>\n<subject>` */
  findBySubject = (tenant: string, subject: string) => this.find(tenant, 'subject', subject);

  findByExternalId = (tenant: string, id: string) => this.find(tenant, 'external', id.toLowerCase());

  /** All users of a tenant, disabled ones included, by username. */
  async list(tenant: string): Promise<StoredUser[]> {
    const members = await this.redis.zrange(keys.usersOf(tenant), '0', '-1');
    const found: StoredUser[] = [];
    for (let at = 0; at < members.length; at += CHUNK) {
      const pipeline = this.redis.pipeline();
      for (const member of members.slice(at, at + CHUNK))
        pipeline.hmget(keys.user(member.slice(member.lastIndexOf('\t') + 1)), ...recordFields);
      for (const [error, fields] of (await pipeline.exec()) ?? []) {
        if (error) throw error;
        const stored = toStored(fields as (string | null)[]);
        if (stored) found.push(stored);
      }
    }
    return found;
  }

  private async find(tenant: string, lookup: UserLookup, value: string): Promise<StoredUser | undefined> {
    const id = await this.redis.hget(keys.userLookups(tenant), `${lookup}:${value}`);
    return id === null ? undefined : this.get(id);
  }
}

function listLookups({ username, email, disabled, subjects = [], external_id: external }: UserRecord): string[] {
  const values: [UserLookup, string][] = [
    ['name', username.toLowerCase()],
    // The address of a disabled user is free for others.
    ...(email && !disabled ? [['email', email.toLowerCase()] as [UserLookup, string]] : []),
    ...subjects.map((subject): [UserLookup, string] => ['subject', subject]),
    ...(external ? [['external', external.toLowerCase()] as [UserLookup, string]] : []),
  ];
  // The script reads one lookup per line.
  return values.map(([lookup, value]) => `${lookup}:${value.replaceAll('\n', ' ')}`);
}

function toStored([document, password, factor, revision, generation]: readonly (string | null | undefined)[]):
  StoredUser | undefined {
  if (!document) return undefined;
  const user: UserRecord = {
    ...(JSON.parse(document) as UserRecord),
    ...(password && { password }),
    ...(factor && { totp: JSON.parse(factor) as StoredFactor }),
  };
  return { user, revision: Number(revision), generation: Number(generation) };
}
