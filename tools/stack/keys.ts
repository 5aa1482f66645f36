import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';

/** The identity of a generated API key. */
export interface KeyHolder {
  tenant: string;
  role: string;
  principal_id: string;
}

export type KeyName = 'admin' | 'approver' | 'operator' | 'user' | 'viewer' | 'other_tenant';

/** Two administrators, because the submitter of a job cannot approve it. */
const holders = (tenant: string): Record<KeyName, KeyHolder> => ({
  admin: { tenant, role: 'admin', principal_id: 'local-admin' },
  approver: { tenant, role: 'admin', principal_id: 'local-approver' },
  operator: { tenant, role: 'operator', principal_id: 'local-operator' },
  user: { tenant, role: 'user', principal_id: 'local-user' },
  viewer: { tenant, role: 'viewer', principal_id: 'local-viewer' },
  other_tenant: { tenant: 'other', role: 'admin', principal_id: 'other-admin' },
});

export interface Keys {
  /** For SVC_API_KEYS_PATH. */
  file: string;
  keys: Record<KeyName, string>;
  holders: Record<KeyName, KeyHolder>;
}

/** The keys of this data folder, created once so that they survive a restart. */
export function ensureKeys(file: string, tenant: string): Keys {
  const wanted = holders(tenant);
  const held = existsSync(file) ? readKeys(file) : {};
  const names = Object.keys(wanted) as KeyName[]; // the keys of a record of that type
  const keys = Object.fromEntries(
    names.map((name) => [name, held[wanted[name].principal_id] ?? randomBytes(32).toString('base64url')]),
  ) as Record<KeyName, string>;
  const entries = names.map((name) => ({ key: keys[name], ...wanted[name] }));
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  writeFileSync(file, `${JSON.stringify({ keys: entries }, null, 2)}\n`, { mode: 0o600 });
  return { file, keys, holders: wanted };
}

function readKeys(file: string): Partial<Record<string, string>> {
  const { keys } = JSON.parse(readFileSync(file, 'utf8')) as { keys: (KeyHolder & { key: string })[] };
  return Object.fromEntries(keys.map(({ principal_id, key }) => [principal_id, key]));
}
