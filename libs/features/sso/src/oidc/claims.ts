import type { Role } from '@svc/contract';
import { isTenantName, sha256 } from '@svc/identity';
import { groupRoles, normalizeGroup } from '@svc/runtime';
import { toDisplayName, toEmail, toKnownRole, toUsername, type ProviderProfile } from '../profile';
import type { ClaimNames, GroupRoles } from './settings';

export type Claims = Readonly<Record<string, unknown>>;

export interface ClaimRules {
  issuer: string;
  claims: ClaimNames;
  groups: GroupRoles;
  roles: Readonly<Record<string, Role>>;
  defaultRole: string;
  defaultTenant: string;
}

/**
 * Identity of a user at a provider. The issuer is part of it, because a subject is unique at its issuer only.
 *
 * @returns SHA-256 in hexadecimal
 */
export const toSubject = (issuer: string, subject: string): string => sha256(`${issuer}\n${subject}`);

/** Digests of the session (`sid`) and of the subject (`sub`) at the provider, as far as claims name them. */
export const listLogoutNames = (issuer: string, claims: Claims): string[] =>
  ['sid', 'sub'].flatMap((name) => {
    const value = textClaim(claims, name);
    return value === '' ? [] : [sha256(`${issuer}\n${name}\n${value}`)];
  });

/** The user that verified claims describe; undefined when the tenant or the user name is not valid. */
export function toProfile(claims: Claims, rules: ClaimRules): ProviderProfile | undefined {
  const { claims: names } = rules;
  const tenant = findTenant(claims, rules);
  const subject = textClaim(claims, 'sub');
  const candidates = [names.username, 'preferred_username', names.email, 'sub'];
  const username = candidates.map((name) => toUsername(textClaim(claims, name))).find((name) => name !== '');
  if (tenant === undefined || subject === '' || username === undefined) return undefined;
  const email = toEmail(textClaim(claims, names.email));
  const displayName = toDisplayName(textClaim(claims, names.name));
  return {
    source: 'oidc',
    subject: toSubject(rules.issuer, subject),
    tenant,
    username,
    role: findRole(claims, rules),
    emailVerified: claims['email_verified'] === true,
    ...(email !== undefined && { email }),
    ...(displayName !== undefined && { displayName }),
  };
}

/** The tenant of claims; undefined when they name one that cannot exist. */
export function findTenant(claims: Claims, { claims: names, defaultTenant }: ClaimRules): string | undefined {
  const named = [names.tenant, 'tenant', 'tenant_id'].map((name) => textClaim(claims, name)).find((name) => name !== '');
  const tenant = named ?? defaultTenant;
  return isTenantName(tenant) ? tenant : undefined;
} // prettier-ignore

/** The role of claims: of the groups if there is a mapping and groups are claimed, else of the role claim. */
export function findRole(claims: Claims, { claims: names, groups, roles, defaultRole }: ClaimRules): string {
  const claimed = getClaim(claims, groups.claim);
  const hasGroups = claimed !== undefined && claimed !== null && claimed !== '' && !isEmptyList(claimed);
  if (groups.mapping.size > 0 && hasGroups) return findGroupRole(claimed, groups) ?? defaultRole;
  const listed = getClaim(claims, 'roles');
  const first: unknown = Array.isArray(listed) ? listed.find((role) => typeof role === 'string') : listed;
  const written = [textClaim(claims, names.role), textClaim(claims, 'role'), typeof first === 'string' ? first : ''];
  return toKnownRole(written.find((role) => role.trim() !== '') ?? '', roles) ?? defaultRole;
}

/** The highest role of the groups; undefined when none is mapped, or the claim is no list of texts. */
function findGroupRole(claimed: unknown, { mapping }: GroupRoles): string | undefined {
  const names: unknown[] = Array.isArray(claimed) ? claimed : [claimed];
  if (!names.every((name): name is string => typeof name === 'string')) return undefined;
  const given = new Set(names.map((name) => mapping.get(normalizeGroup(name))));
  return groupRoles.find((role) => given.has(role));
}

const isEmptyList = (value: unknown): boolean => Array.isArray(value) && value.length === 0;

const getClaim = (claims: Claims, name: string): unknown => (Object.hasOwn(claims, name) ? claims[name] : undefined);

export function textClaim(claims: Claims, name: string): string {
  const value = getClaim(claims, name);
  return typeof value === 'string' ? value.trim() : '';
}
