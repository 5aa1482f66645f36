import { isRecord } from '@svc/json';
import { isTenantName, roleName } from './identity';

/** One configured API key. See docs/reference/http.md#authentication. */
export interface KeyEntry {
  key: string;
  tenant: string;
  role: string;
  /** The entry names no role, so it is an admin key. */
  isAdminByDefault: boolean;
  principalId: string;
  /** Milliseconds since 1970; absent = never. */
  expiresAtMs?: number;
  allowCrossTenant: boolean;
}

const known = ['key', 'tenant', 'role', 'principal_id', 'expires_at', 'allow_cross_tenant'];

/**
 * Reads `SVC_API_KEYS` or the key file: a list, separated by commas or line breaks, of `key`, `tenant:key`, `tenant:key:role` or
 * `tenant:key:role:principal`; a JSON array of entries; `{<key>: entry}`; or `{keys: [entry]}`.
 *
 * @param origin the source that error messages name; a message never contains a key
 * @throws Error that names the origin and the entry
 */
export function parseKeyList(text: string, origin: string, defaultTenant: string): KeyEntry[] {
  const trimmed = text.trim();
  const raw = /^[[{]/.test(trimmed) ? fromJson(trimmed, origin) : fromList(trimmed);
  const entries = raw.map((entry, i) => readEntry(entry, `${origin}: entry ${i + 1}`, defaultTenant));
  const twice = entries.findIndex(({ key }, i) => entries.findIndex((other) => other.key === key) !== i);
  if (twice >= 0) throw new Error(`${origin}: entry ${twice + 1} repeats the key of an earlier entry`);
  return entries;
}

function fromList(text: string): Record<string, unknown>[] {
  const items = text.split(/[,\r\n]+/).map((item) => item.trim());
  return items.filter(Boolean).map((item) => {
    const parts = item.split(':').map((part) => part.trim());
    if (parts.length === 1) return { key: parts[0] };
    const [tenant, key, role, ...principal] = parts;
    // A principal may contain colons, as in `spiffe://…`.
    return { tenant, key, ...(role && { role }), ...(principal.length > 0 && { principal_id: principal.join(':') }) };
  });
}

function fromJson(text: string, origin: string): Record<string, unknown>[] {
  const document = parseJson(text, origin);
  const members = isRecord(document) ? document : {};
  const named = Array.isArray(members['keys']) ? members['keys'] : undefined;
  if (named && Object.keys(members).length > 1) throw new Error(`${origin}: has fields besides the list "keys"`);
  const list: unknown = named ?? document;
  if (Array.isArray(list)) {
    return list.map((entry: unknown, i) =>
      typeof entry === 'string' ? { key: entry } : asEntry(entry, `${origin}: entry ${i + 1}`),
    );
  }
  return Object.entries(members).map(([key, value], i) => {
    const entry = asEntry(value, `${origin}: entry ${i + 1}`);
    if ('key' in entry && entry['key'] !== key) throw new Error(`${origin}: entry ${i + 1}: names two keys`);
    return { ...entry, key };
  });
}

function parseJson(text: string, origin: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    // The parser's message quotes the text, which contains keys.
    throw new Error(`${origin}: starts like JSON but is not valid JSON`);
  }
}

function asEntry(entry: unknown, where: string): Record<string, unknown> {
  if (!isRecord(entry)) throw new Error(`${where}: must be an object with fields such as "tenant" and "role"`);
  const unknown = Object.keys(entry).find((field) => !known.includes(field));
  if (unknown !== undefined) throw new Error(`${where}: has a field that is not one of ${known.join(', ')}`);
  return entry;
}

function readEntry(entry: Record<string, unknown>, where: string, defaultTenant: string): KeyEntry {
  const text = (field: string, standard: string): string => {
    const value = entry[field] ?? '';
    if (typeof value !== 'string') throw new Error(`${where}: ${field} must be a string`);
    return value.trim() || standard;
  };
  const key = text('key', '');
  if (!key) throw new Error(`${where}: has no key`);
  if (key.startsWith('session-')) throw new Error(`${where}: a key cannot begin with session-`);
  const tenant = text('tenant', defaultTenant);
  if (!isTenantName(tenant)) throw new Error(`${where}: tenant must be letters, digits, dots, dashes or underscores`);
  const crossTenant = entry['allow_cross_tenant'] ?? false;
  if (typeof crossTenant !== 'boolean') throw new Error(`${where}: allow_cross_tenant must be true or false`);
  const expiresAt = text('expires_at', '');
  return {
    key,
    tenant,
    role: roleName(text('role', 'admin')),
    isAdminByDefault: text('role', '') === '',
    principalId: text('principal_id', ''),
    allowCrossTenant: crossTenant,
    ...(expiresAt && { expiresAtMs: readTime(expiresAt, `${where}: expires_at`) }),
  };
}

/** Parses an RFC 3339 time to milliseconds since 1970. */
function readTime(text: string, where: string): number {
  const rfc3339 = /^\d{4}-\d{2}-\d{2}[Tt ]\d{2}:\d{2}:\d{2}(\.\d+)?([Zz]|[+-]\d{2}:\d{2})$/;
  const ms = rfc3339.test(text) ? Date.parse(text) : Number.NaN;
  const midnight = new Date(`${text.slice(0, 10)}T00:00:00Z`);
  // `Date` reads 31 February as a day in March.
  const isOnCalendar = !Number.isNaN(ms) && midnight.toISOString().startsWith(text.slice(0, 10));
  if (!isOnCalendar) throw new Error(`${where} must be a time such as 2030-01-31T00:00:00Z`);
  return ms;
}
