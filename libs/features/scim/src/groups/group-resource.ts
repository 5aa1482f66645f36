import { scimForm } from '@svc/contract';
import { groupSchemaId, type Json, ScimFault } from '@svc/scim-protocol';
import { toVersion } from '../scim-deps';
import { userLocation } from '../users/user-resource';
import type { GroupRecord, StoredGroup } from './group.repository';

export const groupLocation = (baseUrl: string, id: string): string => `${baseUrl}${scimForm.basePath}/Groups/${id}`;

/** A group as SCIM clients see it. */
export function toGroupResource({ group, revision }: StoredGroup, baseUrl: string): Json {
  const { id, display_name, external_id, members, created_at, updated_at } = group;
  return {
    schemas: [groupSchemaId],
    id,
    ...(external_id && { externalId: external_id }),
    displayName: display_name,
    ...(members.length > 0 && {
      members: members.map((value) => ({ value, $ref: userLocation(baseUrl, value) })),
    }),
    meta: {
      resourceType: 'Group',
      created: created_at,
      lastModified: updated_at,
      location: groupLocation(baseUrl, id),
      version: toVersion(revision),
    },
  };
}

/** The attributes of a group that a client may set; see `groupSchema`. */
export interface GroupAttributes {
  displayName?: string;
  externalId?: string;
  members?: readonly { value: string }[];
}

/** @throws ScimFault invalidValue */
export function toGroupRecord(
  identity: Pick<GroupRecord, 'id' | 'created_at' | 'updated_at'>,
  { displayName, externalId, members = [] }: GroupAttributes,
): GroupRecord {
  if (!displayName?.trim()) throw new ScimFault('invalidValue', 'displayName is required');
  const { id, created_at, updated_at } = identity;
  return {
    id,
    display_name: displayName,
    ...(externalId && { external_id: externalId }),
    members: members.map(({ value }) => value),
    created_at,
    updated_at,
  };
}
