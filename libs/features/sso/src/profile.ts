import type { Role } from '@svc/contract';

/** A user as a provider describes it. */
export interface ProviderProfile {
  source: 'oidc' | 'saml';
  /** SHA-256 (hex) of `<issuer>\n<subject>`. */
  subject: string;
  tenant: string;
  username: string;
  role: string;
  email?: string;
  /** The provider vouches for the address. */
  emailVerified: boolean;
  displayName?: string;
}

const MAX_USERNAME_CHARS = 128;
const MAX_NAME_CHARS = 256;
const MAX_EMAIL_CHARS = 254;

/** A user name in lower case, with `_` for spaces; '' for a text that cannot be one. */
export function toUsername(text: string): string {
  const name = text.trim().toLowerCase().replace(/\s/g, '_');
  return name.length <= MAX_USERNAME_CHARS && !/\p{C}/u.test(name) ? name : '';
}

/** An e-mail address, or undefined for another text. */
export function toEmail(text: string): string | undefined {
  const email = text.trim();
  return email.length <= MAX_EMAIL_CHARS && /^[^\s@\p{C}]+@[^\s@\p{C}]+$/u.test(email) ? email : undefined;
}

/** A name for humans, without control characters. */
export const toDisplayName = (text: string): string | undefined =>
  text.replace(/\p{C}/gu, '').trim().slice(0, MAX_NAME_CHARS) || undefined;

/** A role of a provider, if there is a role of that name; `secops` is an alias of `admin`. */
export function toKnownRole(written: string, roles: Readonly<Record<string, Role>>): string | undefined {
  const name = written.trim().toLowerCase();
  const role = name === 'secops' ? 'admin' : name;
  return Object.hasOwn(roles, role) ? role : undefined;
}
