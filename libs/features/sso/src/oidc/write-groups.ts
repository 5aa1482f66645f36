import { AppError, type Caller, type GroupMappingBody } from '@svc/contract';
import { toGroupMapping } from '@svc/runtime';
import {
  announceChange,
  changeDocument,
  defaultPlace,
  requireWritable,
  type AnnounceDeps,
  type ConfigRules,
} from '@svc/settings';
import type { Store } from '@svc/store';
import { groupKeys } from './live-groups';

export interface GroupWriteDeps extends AnnounceDeps, Pick<ConfigRules, 'defaultTenant' | 'rbac'> {
  store: Pick<Store, 'config'>;
}

/**
 * Replaces the groups claim and the roles of groups, for all replicas.
 *
 * @throws config_place_forbidden, oidc_provider_missing, group_mapping_invalid, config_version_conflict
 */
export async function writeGroups(
  deps: GroupWriteDeps,
  caller: Caller,
  body: GroupMappingBody,
  hasProvider: boolean,
): Promise<void> {
  requireWritable(deps, caller, defaultPlace);
  if (!hasProvider) throw new AppError('oidc_provider_missing');
  const { oidc_groups_claim: claim, oidc_group_role_mapping: roles } = body;
  const { mapping, fault } = toGroupMapping(roles);
  if (fault !== undefined) {
    const field = 'oidc_group_role_mapping';
    const violation = { in: 'body', field, path: field, message: `must not contain ${fault}` };
    throw new AppError('group_mapping_invalid', { violations: [violation] });
  }
  const text = JSON.stringify(Object.fromEntries(mapping));
  await changeDocument(deps, defaultPlace, (stored) => ({
    data: { ...stored?.data, [groupKeys.claim]: claim, [groupKeys.mapping]: text },
  }));
  // After a crash here, replicas find the change by themselves within 30 s.
  await announceChange(deps, defaultPlace);
}
