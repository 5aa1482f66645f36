import { AppError } from '@svc/contract';
import { applyPatch, groupSchema, type Json, type PatchOperation, readResource, ScimFault } from '@svc/scim-protocol';
import { isDeepStrictEqual } from 'node:util';
import { buildAct, MAX_TRIES, requireVersion, type ScimDeps, type ScimRequest } from '../scim-deps';
import { isVisible } from '../users/read-users';
import { applyRoles } from './apply-roles';
import { type GroupRecord, type StoredGroup } from './group.repository';
import { type GroupAttributes, toGroupRecord, toGroupResource } from './group-resource';
import { getRole } from './group-role';

/**
 * Creates a group, and gives its members the role of its name.
 *
 * @throws ScimFault, scim_uniqueness, scim_conflict
 */
export async function createGroup(deps: ScimDeps, request: ScimRequest, sent: unknown): Promise<StoredGroup> {
  const now = new Date(deps.clock.nowMs()).toISOString();
  const identity = { id: deps.random.uuid(), created_at: now, updated_at: now };
  const group = toGroupRecord(identity, readResource(groupSchema, sent) as GroupAttributes);
  const stored = await write(deps, request, { id: group.id, before: undefined, group });
  return stored ?? changedByOthers();
}

/** @throws ScimFault, scim_resource_not_found, scim_version_mismatch, scim_uniqueness, scim_conflict */
export async function replaceGroup(
  deps: ScimDeps,
  request: ScimRequest,
  id: string,
  sent: unknown,
): Promise<StoredGroup> {
  const attributes = readResource(groupSchema, sent);
  return changeGroup(deps, request, id, () => attributes);
}

/** @throws as `replaceGroup` */
export async function patchGroup(
  deps: ScimDeps,
  request: ScimRequest,
  id: string,
  operations: readonly PatchOperation[],
): Promise<StoredGroup> {
  return changeGroup(deps, request, id, (before) =>
    applyPatch(groupSchema, readResource(groupSchema, before), operations),
  );
}

/**
 * Removes a group. Its members get the role of their other groups.
 *
 * @throws scim_resource_not_found, scim_version_mismatch, scim_conflict
 */
export async function deleteGroup(deps: ScimDeps, request: ScimRequest, id: string): Promise<void> {
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    const before = await findGroup(deps, id);
    requireVersion(request, before.revision);
    if (await write(deps, request, { id, before, group: undefined })) return;
  }
  changedByOthers();
}

/** @throws scim_resource_not_found */
export async function findGroup({ groups }: Pick<ScimDeps, 'groups'>, id: string): Promise<StoredGroup> {
  const stored = await groups.get(id);
  if (!stored) throw new AppError('scim_resource_not_found');
  return stored;
}

async function changeGroup(
  deps: ScimDeps,
  request: ScimRequest,
  id: string,
  change: (before: Json) => Json,
): Promise<StoredGroup> {
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    const before = await findGroup(deps, id);
    requireVersion(request, before.revision);
    const group = toGroupRecord(before.group, change(toGroupResource(before, '')) as GroupAttributes);
    if (isDeepStrictEqual(group, before.group)) return before;
    const updated_at = new Date(deps.clock.nowMs()).toISOString();
    const stored = await write(deps, request, { id, before, group: { ...group, updated_at } });
    if (stored) return stored;
  }
  return changedByOthers();
}

interface GroupChange {
  id: string;
  before: StoredGroup | undefined;
  /** Undefined = removed. */
  group: GroupRecord | undefined;
}

/** @returns undefined when others changed the group at the same time */
async function write(
  deps: ScimDeps,
  request: ScimRequest,
  { id, before, group }: GroupChange,
): Promise<StoredGroup | undefined> {
  const joined = listMissing(group, before?.group);
  await requireUsers(deps, joined);
  const left = listMissing(before?.group, group);
  const roleChanges = listRoleChanges(deps, before?.group, group, [...joined, ...left]);
  const action = group ? (before ? 'group.updated' : 'group.created') : 'group.deleted';
  const { display_name: name } = group ?? before?.group ?? { display_name: '' };
  const counts = { group: name, joined: String(joined.length), left: String(left.length) };
  const act = buildAct(action, request, { type: 'group', id }, counts);
  const outcome = await deps.groups.write(deps.defaultTenant, { id, group, before, roleChanges, act });
  switch (outcome.kind) {
    case 'changed':
      return undefined;
    case 'taken':
      throw new AppError('scim_uniqueness', { error: 'another group has this displayName' });
    case 'full':
      throw new AppError('scim_conflict', { error: `there are already ${outcome.count} groups` });
    case 'written':
      break;
  }
  // After a crash here, the loop of a gateway applies the roles.
  await applyRoles(deps, request, roleChanges);
  return { group: group ?? { ...toEmpty(id), display_name: name }, revision: outcome.revision };
}

const toEmpty = (id: string): Omit<GroupRecord, 'display_name'> => ({
  id,
  members: [],
  created_at: '',
  updated_at: '',
});

const listMissing = (some: GroupRecord | undefined, others: GroupRecord | undefined): string[] => {
  const known = new Set(others?.members);
  return (some?.members ?? []).filter((user) => !known.has(user));
};

/** Members whose role depends on this change. */
function listRoleChanges(
  { roles: readRoles }: ScimDeps,
  before: GroupRecord | undefined,
  after: GroupRecord | undefined,
  moved: readonly string[],
): string[] {
  const roles = readRoles();
  const [roleBefore, roleAfter] = [before, after].map((group) => group && getRole(group, roles));
  if (roleBefore === roleAfter) return roleAfter === undefined ? [] : [...moved];
  return [...new Set([...(before?.members ?? []), ...(after?.members ?? [])])];
}

const CHUNK = 200;

/** @throws ScimFault invalidValue for an id that is not that of a user */
async function requireUsers(deps: ScimDeps, ids: readonly string[]): Promise<void> {
  for (let at = 0; at < ids.length; at += CHUNK) {
    const found = await Promise.all(ids.slice(at, at + CHUNK).map((id) => deps.store.users.get(id)));
    if (found.some((stored) => !stored || !isVisible(deps, stored))) {
      throw new ScimFault('invalidValue', 'members has a value that is not the id of a user');
    }
  }
}

function changedByOthers(): never {
  throw new AppError('scim_conflict');
}
