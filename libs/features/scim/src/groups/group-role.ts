import { resolvePermissions, type Role } from '@svc/contract';
import type { ScimDeps } from '../scim-deps';
import type { GroupRecord } from './group.repository';

/** The role of a user who has no other. */
export const DEFAULT_ROLE = 'viewer';

type Roles = Readonly<Record<string, Role>>;

/** The role of the members of a group; undefined when there is no role of this name. */
export function getRole({ display_name }: Pick<GroupRecord, 'display_name'>, roles: Roles): string | undefined {
  const name = display_name.toLowerCase();
  return Object.hasOwn(roles, name) ? name : undefined;
}

/** The role that its groups give a user: the one with the most permissions. Undefined when no group gives one. */
export async function findGroupRole(
  { groups, roles: readRoles }: Pick<ScimDeps, 'groups' | 'roles'>,
  user: string,
): Promise<string | undefined> {
  const roles = readRoles();
  const given = (await groups.listWith(user)).flatMap(({ group }) => getRole(group, roles) ?? []);
  return given.sort((a, b) => rank(b, roles) - rank(a, roles) || (a < b ? -1 : 1))[0];
}

function rank(role: string, roles: Roles): number {
  const held = resolvePermissions(role, roles);
  return held.has('admin.*') ? Infinity : held.size;
}
