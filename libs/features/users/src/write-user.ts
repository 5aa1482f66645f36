import {
  AppError,
  coversRole,
  everyTenant,
  type AuthUser,
  type Caller,
  type CreateUserBody,
  type UpdateUserBody,
  type UserList,
} from '@svc/contract';
import type { StoredUser, UserRecord } from '@svc/store';
import { isDeepStrictEqual } from 'node:util';
import { hashNew, toRekeyed } from './change-password';
import { withoutFactor } from './totp';
import {
  type ActContext,
  buildAct,
  changeUser,
  fault,
  requireUserAuth,
  toAuthUser,
  type UserChange,
  type UserDeps,
} from './user-deps';

const defaultRole = 'user';

/** Enabled users of the caller's tenant, by username. @throws auth_request_invalid */
export async function listUsers(deps: UserDeps, { tenant }: Caller): Promise<UserList> {
  requireUserAuth(deps);
  const users = await deps.store.users.list(tenant);
  return { items: users.filter(({ user }) => !user.disabled).map(({ user }) => toAuthUser(user)) };
}

/**
 * Creates a user. See docs/reference/users.md#users.
 *
 * @throws auth_request_invalid, auth_password_invalid, grant_exceeds_caller, tenant_access_denied, auth_user_conflict,
 * auth_users_full
 */
export async function createUser(deps: UserDeps, context: ActContext, body: CreateUserBody): Promise<AuthUser> {
  requireUserAuth(deps);
  const { store, clock, random } = deps;
  const { caller } = context;
  const tenant = body.tenant || caller.tenant;
  if (caller.scope !== everyTenant && tenant !== caller.tenant) throw new AppError('tenant_access_denied');
  const role = requireRole(deps, caller, body.role || defaultRole);
  const { username, email, display_name } = body;
  const password = await hashNew(deps, { username, ...(email && { email }) }, body.password);
  const now = new Date(clock.nowMs()).toISOString();
  const user: UserRecord = {
    id: random.uuid(),
    tenant,
    username,
    ...(email && { email }),
    ...(display_name && { display_name }),
    role,
    source: 'user',
    password,
    created_at: now,
    updated_at: now,
  };
  const outcome = await store.users.write({ user, expected: 0, act: buildAct('user.created', context, user) });
  if (outcome.kind === 'full') throw new AppError('auth_users_full');
  if (outcome.kind !== 'written') throw new AppError('auth_user_conflict');
  return toAuthUser(user);
}

/**
 * Changes a user. A role that permits less ends the sessions; one that permits more applies to them at once.
 *
 * @throws auth_request_invalid, access_denied, grant_exceeds_caller, auth_user_not_found, auth_user_conflict,
 * auth_last_admin
 */
export async function updateUser(
  deps: UserDeps,
  context: ActContext,
  id: string,
  { email, display_name, roles = [] }: UpdateUserBody,
): Promise<AuthUser> {
  const { caller } = context;
  const stored = await findManaged(deps, caller, id);
  const role = roles[0] === undefined ? undefined : requireRole(deps, caller, roles[0]);
  const written = await changeManaged(deps, caller, stored, ({ user }) => {
    const changed = {
      ...user,
      ...(email && { email }),
      ...(display_name && { display_name }),
      ...(role && { role }),
    };
    if (isDeepStrictEqual(changed, user)) return undefined;
    return {
      user: { ...changed, updated_at: new Date(deps.clock.nowMs()).toISOString() },
      endSessions: !coversRole(changed.role, user.role, deps.roles()),
      act: buildAct('user.updated', context, changed, { changed: listChanges(user, changed), role_before: user.role }),
    };
  });
  if (written && written.generation === stored.generation) deps.announce(`user:${id}`);
  return toAuthUser(written?.user ?? stored.user);
}

/** Disables a user. @throws auth_request_invalid for the caller, access_denied, auth_user_not_found, auth_last_admin */
export async function deleteUser(deps: UserDeps, context: ActContext, id: string): Promise<void> {
  const stored = await findManaged(deps, context.caller, id);
  if (context.caller.userId === id) throw fault('id', 'users cannot delete themselves');
  await changeManaged(deps, context.caller, stored, ({ user }) => {
    const updated_at = new Date(deps.clock.nowMs()).toISOString();
    return { user: { ...user, disabled: true, updated_at }, act: buildAct('user.disabled', context, user) };
  });
}

/** Replaces a password, and ends the sessions. @throws auth_password_invalid, access_denied, auth_user_not_found */
export async function setPassword(deps: UserDeps, context: ActContext, id: string, password: string): Promise<void> {
  const stored = await findManaged(deps, context.caller, id);
  const hash = await hashNew(deps, stored.user, password);
  await changeManaged(deps, context.caller, stored, ({ user }) => ({
    user: toRekeyed(deps, user, hash),
    endSessions: true,
    act: buildAct('user.password_set', context, user),
  }));
}

/** Removes the second factor of a user who cannot. @throws access_denied, auth_user_not_found */
export async function resetTotp(deps: UserDeps, context: ActContext, id: string): Promise<void> {
  const stored = await findManaged(deps, context.caller, id);
  await changeManaged(deps, context.caller, stored, ({ user }) => {
    if (!user.totp) return undefined;
    const updated_at = new Date(deps.clock.nowMs()).toISOString();
    return {
      user: { ...withoutFactor(user), updated_at },
      endSessions: true,
      act: buildAct('user.totp_reset', context, user),
    };
  });
}

/** An enabled user whom the caller may change: one who may do no more than the caller. @throws access_denied, auth_user_not_found */
async function findManaged(deps: UserDeps, caller: Caller, id: string): Promise<StoredUser> {
  requireUserAuth(deps);
  const stored = await deps.store.users.get(id);
  if (!stored) throw new AppError('auth_user_not_found');
  requireManaged(deps, caller, stored);
  return stored;
}

/** @throws access_denied, auth_user_not_found */
function requireManaged({ roles }: Pick<UserDeps, 'roles'>, { scope, role }: Caller, { user }: StoredUser): void {
  const isVisible = scope === everyTenant || user.tenant === scope;
  if (!isVisible || user.disabled) throw new AppError('auth_user_not_found');
  if (!coversRole(role, user.role, roles())) throw new AppError('access_denied');
}

/** As `changeUser`; whenever the user has changed, the caller must still be permitted to change it. */
const changeManaged = (
  deps: UserDeps,
  caller: Caller,
  first: StoredUser,
  decide: (stored: StoredUser) => UserChange | undefined,
): Promise<StoredUser | undefined> =>
  changeUser(deps, first, (stored) => {
    requireManaged(deps, caller, stored);
    return decide(stored);
  });

/** @throws auth_request_invalid for an unknown role, grant_exceeds_caller */
function requireRole(deps: UserDeps, caller: Caller, name: string): string {
  const role = name.toLowerCase();
  if (!Object.hasOwn(deps.roles(), role)) throw fault('role', 'there is no such role');
  if (!coversRole(caller.role, role, deps.roles())) throw new AppError('grant_exceeds_caller');
  return role;
}

const listChanges = (before: UserRecord, after: UserRecord): string =>
  (['email', 'display_name', 'role'] as const).filter((field) => before[field] !== after[field]).join(' ');
