import { AppError, type AuditSeverity, coversRole } from '@svc/contract';
import { applyPatch, type Json, type PatchOperation, readResource, ScimFault } from '@svc/scim-protocol';
import type { StoredUser, UserLookup, UserRecord } from '@svc/store';
import { isDeepStrictEqual } from 'node:util';
import { DEFAULT_ROLE, findGroupRole } from '../groups/group-role';
import { buildAct, MAX_TRIES, requireVersion, type ScimDeps, type ScimRequest } from '../scim-deps';
import { findUser, userSchema } from './read-users';
import { toUserRecord, toUserResource, type UserAttributes } from './user-resource';

/**
 * Creates a user without a password. Where deleted users are hidden, one of the same name is created again under its id.
 *
 * @throws ScimFault, scim_uniqueness, scim_conflict
 */
export async function createUser(deps: ScimDeps, request: ScimRequest, sent: unknown): Promise<StoredUser> {
  const { random, clock, defaultTenant } = deps;
  const attributes = readResource(userSchema(deps), sent) as UserAttributes;
  requireRole(deps, attributes);
  const now = new Date(clock.nowMs()).toISOString();
  const identity = { source: 'scim' as const, tenant: defaultTenant, created_at: now, updated_at: now, synced_at: now };
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    const deleted = await findDeleted(deps, attributes.userName);
    const id = deleted?.user.id ?? random.uuid();
    const user = toUserRecord({ id, ...identity }, { active: true, ...attributes }, DEFAULT_ROLE);
    const stored = await write(deps, request, deleted, user, 'user.created');
    if (stored) return stored;
  }
  return changedByOthers();
}

async function findDeleted({ store, settings, defaultTenant }: ScimDeps, name = ''): Promise<StoredUser | undefined> {
  const stored = settings.hidesDeleted ? await store.users.findByName(defaultTenant, name) : undefined;
  return stored?.user.source === 'scim' && stored.user.scim?.deleted_at ? stored : undefined;
}

/**
 * Replaces the attributes of a user. State and role are kept when they are not sent.
 *
 * @throws ScimFault, scim_resource_not_found, scim_version_mismatch, scim_uniqueness, scim_conflict
 */
export async function replaceUser(
  deps: ScimDeps,
  request: ScimRequest,
  id: string,
  sent: unknown,
): Promise<StoredUser> {
  const attributes = readResource(userSchema(deps), sent);
  return changeUser(deps, request, id, () => attributes);
}

/** @throws as `replaceUser` */
export async function patchUser(
  deps: ScimDeps,
  request: ScimRequest,
  id: string,
  operations: readonly PatchOperation[],
): Promise<StoredUser> {
  const schema = userSchema(deps);
  return changeUser(deps, request, id, (before) => {
    const after = applyPatch(schema, readResource(schema, before), operations);
    // Removing the role restores the default.
    return 'roles' in after ? after : { ...after, roles: [{ value: DEFAULT_ROLE }] };
  });
}

/**
 * Disables a user. A repeated call is a no-op.
 *
 * @throws scim_resource_not_found, scim_version_mismatch, scim_conflict
 */
export async function deleteUser(deps: ScimDeps, request: ScimRequest, id: string): Promise<void> {
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    const before = await findUser(deps, id);
    requireVersion(request, before.revision);
    if (before.user.disabled && before.user.scim?.deleted_at) return;
    const now = new Date(deps.clock.nowMs()).toISOString();
    const times = { synced_at: now, updated_at: now };
    const user = { ...before.user, disabled: true, ...times, scim: { ...before.user.scim, deleted_at: now } };
    if (await write(deps, request, before, user, 'user.deleted')) return;
  }
  changedByOthers();
}

async function changeUser(
  deps: ScimDeps,
  request: ScimRequest,
  id: string,
  change: (before: Json) => Json,
): Promise<StoredUser> {
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    const before = await findUser(deps, id);
    requireVersion(request, before.revision);
    const attributes = change(toUserResource(before, '')) as UserAttributes;
    requireRole(deps, attributes);
    const merged = toUserRecord(before.user, attributes, DEFAULT_ROLE);
    // Read after the user, so that a group which changes between the two makes this write or the one for the group the last.
    const role = merged.role === before.user.role ? merged.role : ((await findGroupRole(deps, id)) ?? merged.role);
    const user = { ...merged, role };
    if (isDeepStrictEqual(user, withoutDeletion(before.user))) return before;
    const now = new Date(deps.clock.nowMs()).toISOString();
    const action = user.disabled && !before.user.disabled ? 'user.disabled' : 'user.updated';
    const stored = await write(deps, request, before, { ...user, updated_at: now, synced_at: now }, action);
    if (stored) return stored;
  }
  return changedByOthers();
}

/** A user that a client changes is not deleted any more. */
function withoutDeletion({ scim: { deleted_at: _, ...facts } = {}, ...user }: UserRecord): UserRecord {
  return Object.keys(facts).length > 0 ? { ...user, scim: facts } : user;
}

/** @throws ScimFault invalidValue for an unknown role */
function requireRole({ roles }: ScimDeps, { roles: [sent] = [] }: UserAttributes): void {
  if (sent && !Object.hasOwn(roles(), sent.value)) {
    throw new ScimFault('invalidValue', 'roles has a value that is not the name of a role');
  }
}

/**
 * Writes a user, and ends the sessions if a permission was lost.
 *
 * @returns undefined when others changed the user at the same time
 * @throws scim_uniqueness, scim_conflict
 */
export async function write(
  deps: ScimDeps,
  request: Pick<ScimRequest, 'requestId'>,
  before: StoredUser | undefined,
  user: UserRecord,
  action: string,
): Promise<StoredUser | undefined> {
  const wasActive = before !== undefined && !before.user.disabled;
  const isDisabled = wasActive && user.disabled === true;
  const endSessions = before !== undefined && !coversRole(user.role, before.user.role, deps.roles());
  const outcome = await deps.store.users.write({
    user,
    expected: before?.revision ?? 0,
    endSessions,
    act: {
      ...buildAct(action, request, { type: 'user', id: user.id }, describeChange(before?.user, user)),
      severity: getSeverity(before?.user, user),
    },
  });
  switch (outcome.kind) {
    case 'changed':
      return undefined;
    case 'taken':
      throw new AppError('scim_uniqueness', { error: `another user has this ${lookupNames[outcome.lookup]}` });
    case 'full':
      throw new AppError('scim_conflict', { error: `there are already ${outcome.count} users` });
    case 'last_admin':
      throw new Error('a SCIM client may disable the last admin');
    case 'written':
      break;
  }
  // After a crash here the sessions are over already; their streams end at the regular check.
  if (isDisabled || endSessions) deps.onSessionsEnded(user.id);
  return { user, revision: outcome.revision, generation: outcome.generation };
}

const lookupNames: Readonly<Record<UserLookup, string>> = {
  name: 'userName, as name or address',
  email: 'e-mail address, as address or userName',
  external: 'externalId',
  subject: 'identity',
};

/** Names of changed fields; the values are in no event. */
function describeChange(before: UserRecord | undefined, after: UserRecord): Record<string, string> {
  const names = [...new Set([...Object.keys(before ?? {}), ...Object.keys(after)])] as (keyof UserRecord)[];
  const changed = names.filter((name) => !isDeepStrictEqual(before?.[name], after[name]));
  const listed = changed.filter((name) => !['updated_at', 'synced_at', 'created_at'].includes(name));
  return {
    role: after.role,
    ...(before && before.role !== after.role && { role_before: before.role }),
    changed: listed.join(' '),
  };
}

const getSeverity = (before: UserRecord | undefined, after: UserRecord): AuditSeverity =>
  before?.role !== after.role || before.disabled !== after.disabled ? 'HIGH' : 'MEDIUM';

function changedByOthers(): never {
  throw new AppError('scim_conflict');
}
