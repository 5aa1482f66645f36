import {
  AppError,
  builtInRoles,
  resolvePermissions,
  type Role,
  type RoleDetail,
  type RoleList,
  type RoleView,
} from '@svc/contract';
import type { StoredRole } from '@svc/store';
import type { AccessDeps } from './access-deps';
import { protectedRoles } from './role-book';

type ReadDeps = Pick<AccessDeps, 'roleBook' | 'license'>;

/** Stored roles by name; without RBAC the built-in ones. */
export async function listRoles({ roleBook, license }: ReadDeps): Promise<RoleList> {
  const entitled = license.entitlements().rbac;
  const { roles } = await roleBook.read();
  const listed = [...roles].filter(([name]) => entitled || protectedRoles.includes(name));
  return { roles: listed.map(([name, role]) => toView(name, role)).sort(byName), entitled };
}

/** @throws rbac_request_invalid, rbac_role_not_found */
export async function getRole({ roleBook }: ReadDeps, written: string): Promise<RoleDetail> {
  const name = readRoleName(written);
  const { roles } = await roleBook.read();
  const role = roles.get(name);
  if (!role) throw new AppError('rbac_role_not_found');
  return {
    role: toView(name, role),
    resolved_permissions: [...resolvePermissions(name, withBuiltIn(roles))].sort(),
  };
}

const byName = (a: RoleView, b: RoleView) => (a.name < b.name ? -1 : 1);

/** Stored roles, and the built-in ones that are not stored. */
export const withBuiltIn = (stored: ReadonlyMap<string, Role>): Readonly<Record<string, Role>> => ({
  ...builtInRoles,
  ...Object.fromEntries(stored),
});

/** Names that credentials have with another meaning: an alias of admin, and callers without credentials. */
const reserved = ['secops', 'anonymous'];

/** @throws rbac_request_invalid */
export function readRoleName(written: string): string {
  const name = written.trim().toLowerCase();
  if (/^[a-z0-9][a-z0-9_-]{1,62}$/.test(name) && !reserved.includes(name)) return name;
  const message = 'must be 2 to 63 lower-case letters, digits, - and _, beginning with a letter or digit';
  throw new AppError('rbac_request_invalid', {
    violations: [{ in: 'params', field: 'name', message: reserved.includes(name) ? 'is reserved' : message }],
  });
}

export const toView = (name: string, role: StoredRole): RoleView => ({
  name,
  description: role.description,
  permissions: [...role.permissions],
  inherits: [...role.inherits],
  built_in: protectedRoles.includes(name),
  created_at: role.created_at,
  updated_at: role.updated_at,
});
