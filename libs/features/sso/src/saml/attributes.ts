import type { Role } from '@svc/contract';
import { isTenantName } from '@svc/identity';
import { groupRoles } from '@svc/runtime';
import { toSubject } from '../oidc/claims';
import { toDisplayName, toEmail, toKnownRole, toUsername, type ProviderProfile } from '../profile';
import type { Assertion } from './check-response';
import type { SamlSettings } from './settings';

type AttributeRules = Pick<SamlSettings, 'attributes' | 'defaultRole' | 'defaultTenant'> & {
  idpEntityId: string;
  roles: Readonly<Record<string, Role>>;
};

/** The user of a verified assertion; undefined when it names no valid user or tenant. */
export function toSamlProfile({ nameId, isTransient, attributes }: Assertion, rules: AttributeRules): ProviderProfile | undefined {
  const { attributes: names, defaultTenant, idpEntityId } = rules;
  const first = (name: string): string => attributes.get(name.trim().toLowerCase())?.find((value) => value !== '') ?? '';
  const email = toEmail(first(names.email)) ?? toEmail(nameId);
  const lastingName = isTransient ? '' : nameId;
  const username = [email ?? '', lastingName, first(names.name)].map(toUsername).find((name) => name !== '');
  // A name that changes with each sign-in identifies no one; then the address does.
  const subject = lastingName || email?.toLowerCase() || '';
  const tenant = first(names.tenant) || defaultTenant;
  if (username === undefined || subject === '' || !isTenantName(tenant)) return undefined;
  const displayName = toDisplayName(first(names.name));
  return {
    source: 'saml',
    subject: toSubject(idpEntityId, subject),
    tenant,
    username,
    role: findRole(attributes.get(names.role.trim().toLowerCase()) ?? [], rules),
    // Attributes come from the operator's own directory, and SAML has no mark for addresses that were not verified.
    emailVerified: email !== undefined,
    ...(email !== undefined && { email }),
    ...(displayName !== undefined && { displayName }),
  };
} // prettier-ignore

/** The highest built-in role that is named, else the first that exists, else the default. */
function findRole(values: readonly string[], { roles, defaultRole }: AttributeRules): string {
  const known = values.flatMap((value) => value.split(/[,;|]/)).flatMap((name) => toKnownRole(name, roles) ?? []);
  return groupRoles.find((role) => known.includes(role)) ?? known[0] ?? defaultRole;
}
