import { sameDigest, sha256 } from './digest';
import type { Identity, KeySource } from './identity';
import { parseKeyList, type KeyEntry } from './key-list';
import { secretProblem } from './secret-strength';
import { watchFile } from './watched-file';

/** The variables are named beside the fields; an absent one is an empty string. */
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
  /** How many keys are configured, expired ones included. */
  count(): number;
}

export interface ApiKeyHooks {
  nowMs(): number;
  onProblem(problem: Error): void;
  /** Entries of a list, counted from 1, that name no role and so are admin keys. Also when the key file changed. */
  onAdminByDefault(origin: string, entries: readonly number[]): void;
}

interface HeldKey {
  digest: string;
  identity: Identity;
  expiresAtMs: number;
}
type HeldKeys = ReadonlyMap<string, HeldKey>;

/**
 * The configured API keys, held as digests only. The key file is looked at on every request and read again when it changed;
 * a file that no longer parses keeps the previous set and is reported.
 *
 * @throws Error naming the variable and the entry when a key is malformed, too weak for production, or none is configured
 *   in production
 */
export function openApiKeys(settings: ApiKeySettings, { nowMs, onProblem, onAdminByDefault }: ApiKeyHooks): ApiKeys {
  const { path, defaultTenant } = settings;
  const hold = (entries: KeyEntry[], origin: string): HeldKeys => {
    const admins = entries.flatMap(({ isAdminByDefault }, i) => (isAdminByDefault ? [i + 1] : []));
    if (admins.length > 0) onAdminByDefault(origin, admins);
    return holdKeys(entries, origin, settings);
  };
  const listed = hold(parseKeyList(settings.keys, 'SVC_API_KEYS', defaultTenant), 'SVC_API_KEYS');
  const single = hold(singleKey(settings), 'SVC_API_KEY');
  const file = path
    ? watchFile({
        path,
        parse: (text) => hold(parseKeyList(text, 'SVC_API_KEYS_PATH', defaultTenant), 'SVC_API_KEYS_PATH'),
        onProblem,
        // Looking at the file at every request would cost each of them a system call.
        everyMs: 100,
        nowMs,
      })
    : undefined;
  const nothing: HeldKeys = new Map();
  // The more particular source says what a key is when two name it.
  const sources = (): HeldKeys[] => [file?.current() ?? nothing, listed, single];
  const count = () => sources().reduce((sum, source) => sum + source.size, 0);

  if (settings.production && count() === 0) {
    throw new Error('production needs an API key: set SVC_API_KEY, SVC_API_KEYS or SVC_API_KEYS_PATH');
  }
  return {
    count,
    find(digest) {
      for (const source of sources()) {
        const held = source.get(digest);
        if (held && sameDigest(held.digest, digest)) return held.expiresAtMs > nowMs() ? held.identity : undefined;
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

function holdKeys(entries: KeyEntry[], origin: string, { production, skipSecretValidation }: ApiKeySettings): HeldKeys {
  return new Map(
    entries.map((entry, i) => {
      const weakness = production && !skipSecretValidation ? secretProblem('api_key', entry.key) : undefined;
      if (weakness) throw new Error(`${origin}: key ${i + 1} ${weakness}`);
      const digest = sha256(entry.key);
      return [digest, { digest, identity: identityOf(entry, digest), expiresAtMs: entry.expiresAtMs ?? Infinity }];
    }),
  );
}

const identityOf = (entry: KeyEntry, digest: string): Identity => ({
  tenant: entry.tenant,
  principalId: entry.principalId,
  role: entry.role,
  keyId: `static:${digest.slice(0, 12)}`,
  keyName: entry.principalId || `static:${digest.slice(0, 12)}`,
  allowCrossTenant: entry.allowCrossTenant,
  source: 'api_key',
  submitter: `apikey:${digest.slice(0, 16)}`,
});
