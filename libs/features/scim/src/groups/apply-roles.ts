import { MAX_TRIES, type ScimDeps, type ScimRequest } from '../scim-deps';
import { write } from '../users/write-user';
import { DEFAULT_ROLE, findGroupRole } from './group-role';

const CONCURRENCY = 16;

/**
 * Gives users the role that their groups want. The write of a group lists the users, and each is listed until this is done, so
 * after a crash it is repeated.
 *
 * @param ids undefined = some of those that are listed
 */
export async function applyRoles(
  deps: ScimDeps,
  request: Pick<ScimRequest, 'requestId'>,
  ids?: readonly string[],
): Promise<void> {
  const queue = await deps.groups.listRoleChanges(ids);
  const work = async () => {
    for (let next = queue.pop(); next; next = queue.pop()) await applyRole(deps, request, ...next);
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, work));
}

async function applyRole(
  deps: ScimDeps,
  request: Pick<ScimRequest, 'requestId'>,
  id: string,
  changes: string,
): Promise<void> {
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    // The user is read first: a group that changes after this makes the write fail, or is applied after it.
    const before = await deps.store.users.get(id);
    const role = (await findGroupRole(deps, id)) ?? DEFAULT_ROLE;
    if (before && before.user.source === 'scim' && before.user.role !== role) {
      const now = new Date(deps.clock.nowMs()).toISOString();
      const { role_display: _, ...facts } = before.user.scim ?? {};
      const user = { ...before.user, role, updated_at: now, synced_at: now, scim: facts };
      if (!(await write(deps, request, before, user, 'user.role_changed'))) continue;
    }
    return deps.groups.settle(id, changes);
  }
  // Left for the loop.
}
