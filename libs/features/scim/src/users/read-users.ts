import { AppError } from '@svc/contract';
import { buildUserSchema, type Filter, findEquality, type ResourceSchema } from '@svc/scim-protocol';
import type { StoredUser } from '@svc/store';
import type { ScimDeps } from '../scim-deps';

type ReadDeps = Pick<ScimDeps, 'store' | 'defaultTenant' | 'settings'>;

export const userSchema = ({ roles }: Pick<ScimDeps, 'roles'>): ResourceSchema => buildUserSchema(Object.keys(roles()));

/** Whether SCIM clients see a user: those that they created. */
export const isVisible = ({ defaultTenant, settings }: ReadDeps, { user }: StoredUser): boolean =>
  user.source === 'scim' && user.tenant === defaultTenant && !(settings.hidesDeleted && user.scim?.deleted_at);

/** @throws scim_resource_not_found */
export async function findUser(deps: ReadDeps, id: string): Promise<StoredUser> {
  const stored = await deps.store.users.get(id);
  if (!stored || !isVisible(deps, stored)) throw new AppError('scim_resource_not_found');
  return stored;
}

/** The users that a filter may select, fewer than all where an index finds them. */
export async function listCandidates(deps: ReadDeps, filter: Filter | undefined): Promise<StoredUser[]> {
  const { store, defaultTenant } = deps;
  const exact = filter && findEquality(filter, ['id', 'userName', 'externalId']);
  const find = async (): Promise<readonly (StoredUser | undefined)[]> => {
    switch (exact?.name) {
      case 'id':
        return [await store.users.get(exact.value.toLowerCase())];
      case 'userName':
        return [await store.users.findByName(defaultTenant, exact.value)];
      case 'externalId':
        return [await store.users.findByExternalId(defaultTenant, exact.value)];
      default:
        return store.users.list(defaultTenant);
    }
  };
  return (await find()).filter((stored) => stored !== undefined).filter((stored) => isVisible(deps, stored));
}
