import {
  AppError,
  builtInRoles,
  grantsAll,
  limits,
  resolvePermissions,
  type Caller,
  type Role,
  type RoleView,
  type WriteRoleBody,
} from '@svc/contract';
import type { StoredRole, StoredRoles } from '@svc/store';
import { isDeepStrictEqual } from 'node:util';
import { type AccessDeps, requireInstallation } from './access-deps';
import { readRoleName, toView, withBuiltIn } from './read-roles';
import { protectedRoles } from './role-book';

/** Each retry follows a change of another role. */
const MAX_TRIES = 20;

/**
 * Creates or changes a role. See docs/reference/access.md#roles.
 *
 * @throws tenant_access_denied, rbac_request_invalid, rbac_permission_invalid, rbac_role_protected, grant_exceeds_caller,
 *   rbac_version_conflict
 */
export async function putRole(
  deps: AccessDeps,
  caller: Caller,
  written: string,
  body: WriteRoleBody,
): Promise<{ role: RoleView }> {
  requireInstallation(deps, caller);
  const name = readRoleName(written);
  const role = await changeRoles(deps, name, (stored) => {
    const before = stored.roles.get(name);
    if (!before && stored.roles.size >= limits.roles) throw fault('name', `there are already ${limits.roles} roles`);
    const next = merge(before ?? unstored(name), body, new Date(deps.clock.nowMs()).toISOString());
    checkRole(name, next, stored);
    const roles = withBuiltIn(stored.roles);
    const held = resolvePermissions(caller.role, roles);
    if (!grantsAll(held, resolvePermissions(name, { ...roles, [name]: next }))) {
      throw new AppError('grant_exceeds_caller');
    }
    return next;
  });
  return { role: toView(name, role) };
}

/**
 * @throws tenant_access_denied, rbac_request_invalid, rbac_role_undeletable, rbac_role_not_found, rbac_role_in_use,
 *   rbac_version_conflict
 */
export async function removeRole(
  deps: AccessDeps,
  caller: Caller,
  written: string,
): Promise<{ deleted: boolean; name: string }> {
  requireInstallation(deps, caller);
  const name = readRoleName(written);
  if (protectedRoles.includes(name)) throw new AppError('rbac_role_undeletable');
  await changeRoles(deps, name, ({ roles }) => {
    if (!roles.has(name)) throw new AppError('rbac_role_not_found');
    const heirs = [...roles].filter(([, { inherits }]) => inherits.includes(name)).map(([heir]) => heir);
    if (heirs.length > 0) throw inUse(heirs.sort(), 'other roles inherit from the role');
    return undefined;
  });
  return { deleted: true, name };
}

/** Applies a change to the roles as they are, again for as long as others change them. @throws rbac_role_in_use for a removal */
async function changeRoles<Next extends StoredRole | undefined>(
  { store, roleBook }: AccessDeps,
  name: string,
  decide: (stored: StoredRoles) => Next,
): Promise<Next> {
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    const stored = await roleBook.read();
    const next = decide(stored);
    const outcome = await store.roles.write(stored.version, new Map([[name, next]]));
    if (outcome.kind === 'changed') continue;
    if (outcome.kind === 'in_use') throw inUse([], `${outcome.users} users have the role`);
    // After a crash or a failure here, every replica notices the change by itself.
    await roleBook.sync().catch(() => undefined);
    return next;
  }
  throw new AppError('rbac_version_conflict');
}

/** A role that is written for the first time: a built-in one begins with what it is. */
const unstored = (name: string): Role =>
  (Object.hasOwn(builtInRoles, name) ? builtInRoles[name] : undefined) ?? {
    description: '',
    permissions: [],
    inherits: [],
  };

function merge(before: Role & Partial<StoredRole>, body: WriteRoleBody, now: string): StoredRole {
  const unique = <T>(list: readonly T[]): T[] => [...new Set(list)];
  return {
    description: body.description ?? before.description,
    permissions: unique(body.permissions ?? before.permissions),
    inherits: unique(body.inherits?.map((parent) => parent.trim().toLowerCase()) ?? before.inherits),
    created_at: before.created_at ?? now,
    updated_at: now,
  };
}

function checkRole(name: string, next: Role, { roles: stored }: StoredRoles): void {
  const isBuiltIn = protectedRoles.includes(name);
  if (isBuiltIn && !isDeepStrictEqual([...next.inherits].sort(), [...(stored.get(name)?.inherits ?? [])].sort())) {
    throw new AppError('rbac_role_protected');
  }
  if ((name === 'admin') !== next.permissions.includes('admin.*')) {
    const message = name === 'admin' ? 'admin must keep admin.*' : 'only the role admin has admin.*';
    throw permissionFault('permissions', message);
  }
  const roles: Readonly<Record<string, Role>> = { ...withBuiltIn(stored), [name]: next };
  const unknown = next.inherits.find((parent) => !Object.hasOwn(roles, parent));
  if (unknown !== undefined) throw permissionFault('inherits', `there is no role ${JSON.stringify(unknown)}`);
  if (next.inherits.some((parent) => inheritsFrom(parent, name, roles))) {
    throw permissionFault('inherits', 'a role cannot inherit from itself, directly or through other roles');
  }
}

/** Whether a role is another one, or inherits from it. The stored roles have no cycle without the role that is written. */
function inheritsFrom(
  role: string,
  other: string,
  roles: Readonly<Record<string, Role>>,
  seen = new Set<string>(),
): boolean {
  if (role === other) return true;
  if (seen.has(role)) return false;
  seen.add(role);
  return roles[role]?.inherits.some((parent) => inheritsFrom(parent, other, roles, seen)) ?? false;
}

const inUse = (referencing_roles: string[], message: string) =>
  new AppError('rbac_role_in_use', { message, referencing_roles });

const fault = (field: string, message: string) =>
  new AppError('rbac_request_invalid', { violations: [{ in: 'params', field, message }] });

const permissionFault = (field: string, message: string) =>
  new AppError('rbac_permission_invalid', { violations: [{ in: 'body', field, message }] });
