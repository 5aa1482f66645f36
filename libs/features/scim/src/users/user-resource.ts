import { scimForm } from '@svc/contract';
import { type Json, ScimFault, userSchemaId } from '@svc/scim-protocol';
import type { ScimUserFacts, StoredUser, UserRecord } from '@svc/store';
import { toVersion } from '../scim-deps';

export const userLocation = (baseUrl: string, id: string): string => `${baseUrl}${scimForm.basePath}/Users/${id}`;

/** A user as SCIM clients see it. */
export function toUserResource({ user, revision }: StoredUser, baseUrl: string): Json {
  const { id, username, external_id, display_name, given_name, family_name, email, role, disabled, scim = {} } = user;
  const formatted = scim.formatted ?? ([given_name, family_name].filter(Boolean).join(' ') || undefined);
  const name = {
    ...(formatted && { formatted }),
    ...(family_name && { familyName: family_name }),
    ...(given_name && { givenName: given_name }),
  };
  return {
    schemas: [userSchemaId],
    id,
    ...(external_id && { externalId: external_id }),
    userName: username,
    ...(display_name && { displayName: display_name }),
    ...(Object.keys(name).length > 0 && { name }),
    ...(email && { emails: [{ value: email, type: 'work', primary: scim.email_primary ?? true }] }),
    active: !disabled,
    roles: [{ value: role, display: scim.role_display ?? role }],
    meta: {
      resourceType: 'User',
      created: user.created_at,
      lastModified: user.updated_at,
      location: userLocation(baseUrl, id),
      version: toVersion(revision),
    },
  };
}

/** The attributes of a user that a client may set; see `buildUserSchema`. */
export interface UserAttributes {
  userName?: string;
  externalId?: string;
  displayName?: string;
  name?: { formatted?: string; familyName?: string; givenName?: string };
  emails?: readonly { value?: string; primary?: boolean }[];
  active?: boolean;
  roles?: readonly { value: string; display?: string }[];
}

const mailAddress = /^[^\s@]+@[^\s@]+$/;

/**
 * The record of a user with the attributes that a client sends, all of which replace those before, except that a user keeps the
 * state and the role that are not sent.
 *
 * @param identity what the client does not set
 * @throws ScimFault invalidValue
 */
export function toUserRecord(
  identity: Omit<UserRecord, 'username' | 'role'> & Partial<Pick<UserRecord, 'username' | 'role'>>,
  sent: UserAttributes,
  defaultRole: string,
): UserRecord {
  const { external_id: _id, email: _email, display_name: _name, ...others } = identity;
  const { given_name: _given, family_name: _family, disabled: wasDisabled, scim: _facts, ...kept } = others;
  const { userName, externalId, displayName, name = {}, active = !wasDisabled } = sent;
  const [mail] = sent.emails ?? [];
  const role = sent.roles?.[0]?.value ?? identity.role ?? defaultRole;
  if (!userName?.trim()) throw new ScimFault('invalidValue', 'userName is required');
  if (mail?.value !== undefined && !mailAddress.test(mail.value)) {
    throw new ScimFault('invalidValue', 'emails has a value that is not an e-mail address');
  }
  const scim = readFacts(identity, sent);
  return {
    ...kept,
    username: userName,
    role,
    ...(externalId && { external_id: externalId }),
    ...(mail?.value && { email: mail.value }),
    ...(displayName && { display_name: displayName }),
    ...(name.givenName && { given_name: name.givenName }),
    ...(name.familyName && { family_name: name.familyName }),
    ...(!active && { disabled: true }),
    ...(Object.keys(scim).length > 0 && { scim }),
  };
}

function readFacts(before: Partial<UserRecord>, { name = {}, emails, roles }: UserAttributes): ScimUserFacts {
  const isNameChanged = name.givenName !== before.given_name || name.familyName !== before.family_name;
  const derived = [name.givenName, name.familyName].filter(Boolean).join(' ');
  // A formatted name that was set or derived for other parts is not that of the new ones.
  const wasShown = before.scim?.formatted ?? [before.given_name, before.family_name].filter(Boolean).join(' ');
  const isStale = isNameChanged && name.formatted === wasShown;
  const display = roles?.[0]?.display;
  return {
    ...(name.formatted && name.formatted !== derived && !isStale && { formatted: name.formatted }),
    ...(emails?.[0]?.primary === false && { email_primary: false }),
    ...(display && display !== roles?.[0]?.value && { role_display: display }),
  };
}
