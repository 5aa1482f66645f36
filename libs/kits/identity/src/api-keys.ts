import { sameDigest, sha256 } from './digest';
import type { Identity, KeySource } from './identity';
import { parseKeyList, type KeyEntry } from './key-list';
import { secretProblem } from './secret-strength';
import { watchFile } from './watched-file';

/** Each field names its variable; an unset variable is an empty string. */
export interface ApiKeySettings {
  /** SVC_API_KEY, else API_KEY: one admin key. */
  key: string;
  /** SVC_API_KEYS. */
  keys: string;
  /** SVC_API_KEYS_PATH. */
  path: string;
  /** TENANT_ID. */
  defaultTenant: string;
  production: boolean;
  /** SVC_SKIP_SECRET_VALIDATION. */
  skipSecretValidation: boolean;
}

export interface ApiKeys extends KeySource {
  find(digest: string): Identity | undefined;
  /** Number of configured keys, including expired ones. */
  count(): number;
  /** Reads the key file again if it has changed. */
  refresh(): void;
}

export interface ApiKeyHooks {
  nowMs(): number;
  onProblem(problem: Error): void;
  /** Called after a changed key file came into effect. */
  onChanged?(): void;
  /** Reports list entries (counted from 1) that have no role and so are admin keys; also after the key file changed. */
  onAdminByDefault(origin: string, entries: readonly number[]): void;
}

interface IndexedKey {
  digest: string;
  identity: Identity;
  expiresAtMs: number;
}
type KeyIndex = ReadonlyMap<string, IndexedKey>;

/**
 * Configured API keys, kept as digests only. A changed key file is read again on the next request, at most every 100 ms; a
 * file that does not parse is reported and the previous keys stay in effect.
 *
 * @throws Error naming the variable and the entry when a key is malformed or too weak for production, or when production
 *   has no key
 */
export function openApiKeys(
  settings: ApiKeySettings,
  { nowMs, onProblem, onChanged, onAdminByDefault }: ApiKeyHooks,
): ApiKeys {
  const { path, defaultTenant } = settings;
  const index = (entries: KeyEntry[], origin: string): KeyIndex => {
    const admins = entries.flatMap(({ isAdminByDefault }, i) => (isAdminByDefault ? [i + 1] : []));
    if (admins.length > 0) onAdminByDefault(origin, admins);
    return indexKeys(entries, origin, settings);
  };
  const listed = index(parseKeyList(settings.keys, 'SVC_API_KEYS', defaultTenant), 'SVC_API_KEYS');
  const single = index(singleKey(settings), 'SVC_API_KEY');
  const file = path
    ? watchFile({
        path,
        parse: (text) => index(parseKeyList(text, 'SVC_API_KEYS_PATH', defaultTenant), 'SVC_API_KEYS_PATH'),
        onProblem,
        ...(onChanged && { onChanged }),
        // Bounds the cost to ten system calls a second instead of one per request.
        everyMs: 100,
        nowMs,
      })
    : undefined;
  const nothing: KeyIndex = new Map();
  // Precedence when two sources have the same key.
  const sources = (): KeyIndex[] => [file?.current() ?? nothing, listed, single];
  const count = () => sources().reduce((sum, source) => sum + source.size, 0);

  if (settings.production && count() === 0) {
    throw new Error('production needs an API key: set SVC_API_KEY, SVC_API_KEYS or SVC_API_KEYS_PATH');
  }
  return {
    count,
    refresh: () => void file?.current(),
    find(digest) {
      for (const source of sources()) {
        const key = source.get(digest);
        if (key && sameDigest(key.digest, digest)) return key.expiresAtMs > nowMs() ? key.identity : undefined;
      }
      return undefined;
    },
  };
}

const singleKey = ({ key, defaultTenant }: ApiKeySettings): KeyEntry[] =>
  key.trim()
    ? [
        {
          key: key.trim(),
          tenant: defaultTenant,
          role: 'admin',
          isAdminByDefault: false,
          principalId: '',
          allowCrossTenant: false,
        },
      ]
    : [];

function indexKeys(
  entries: KeyEntry[],
  origin: string,
  { production, skipSecretValidation }: ApiKeySettings,
): KeyIndex {
  return new Map(
    entries.map((entry, i) => {
      const weakness = production && !skipSecretValidation ? secretProblem('api_key', entry.key) : undefined;
      if (weakness) throw new Error(`${origin}: key ${i + 1} ${weakness}`);
      const digest = sha256(entry.key);
      return [digest, { digest, identity: toIdentity(entry, digest), expiresAtMs: entry.expiresAtMs ?? Infinity }];
    }),
  );
}

const toIdentity = (entry: KeyEntry, digest: string): Identity => ({
  tenant: entry.tenant,
  principalId: entry.principalId,
  role: entry.role,
  keyId: `static:${digest.slice(0, 12)}`,
  keyName: entry.principalId || `static:${digest.slice(0, 12)}`,
  allowCrossTenant: entry.allowCrossTenant,
  source: 'api_key',
  submitter: `apikey:${digest.slice(0, 16)}`,
  ...(entry.expiresAtMs !== undefined && { expiresAtMs: entry.expiresAtMs }),
});
