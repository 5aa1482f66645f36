import { isRecord } from '@svc/json';
import { createOutboundClient, type OutboundClient } from '@svc/outbound';
import { createPublicKey, type JsonWebKey, type KeyObject } from 'node:crypto';
import type { BearerCheck } from './jwt';
import { TokenVerifier, type TokenRules } from './token-verifier';

export interface JwksSettings extends TokenRules {
  /** SVC_JWT_JWKS_URL. */
  url: string;
  /** SVC_JWT_JWKS_ALLOW_PRIVATE: the issuer may be in a private network. */
  allowPrivate: boolean;
  production: boolean;
}

interface JwksHooks {
  nowMs(): number;
  /** Called when the keys cannot be read; the previous ones stay in effect for an hour. */
  onProblem(problem: Error): void;
  /** Called after the keys changed. */
  onChanged?(): void;
}

/** Keys are read again after this time. */
const MAX_AGE_MS = 10 * 60_000;
/** Keys are used for so long while they cannot be read again. */
const MAX_STALE_MS = 60 * 60_000;
/** Tokens that name unknown keys cause one request in this time. */
const COOLDOWN_MS = 30_000;
const MAX_KEYS = 100;
const MAX_BYTES = 262_144;
const TIMEOUT_MS = 5_000;
const MIN_RSA_BITS = 2_048;
const everyNetwork = ['0.0.0.0/0', '::/0'];

interface SigningKey {
  key: KeyObject;
  algorithm: 'RS256' | 'ES256';
}
type KeySet = ReadonlyMap<string, SigningKey>;

/**
 * Checks tokens of one issuer, whose public keys are read from a URL: RS256 and ES256 only, with the key that the token names by
 * `kid`. A key is used with one algorithm, which its kind determines, and never as a secret. See docs/reference/access.md#jwt.
 *
 * Keys are parsed by `node:crypto` and tokens verified by the library of the static keys. The key sets of `jose` send their own
 * requests, past the checks of the outbound client, and would be a second verifier.
 */
export function openJwks(settings: JwksSettings, hooks: JwksHooks): BearerCheck {
  const client = createOutboundClient({
    onlyHosts: [new URL(settings.url).hostname],
    allow: settings.allowPrivate ? everyNetwork : [],
    httpsOnly: settings.production,
    maxResponseBytes: MAX_BYTES,
    timeoutMs: TIMEOUT_MS,
  });
  const keys = new RemoteKeys(() => fetchKeys(client, settings.url), hooks);
  const verifier = new TokenVerifier(settings, () => hooks.nowMs());
  return async (token) => {
    const presented = verifier.read(token);
    const { kid, alg } = presented?.header ?? {};
    if (!presented || typeof kid !== 'string' || (alg !== 'RS256' && alg !== 'ES256')) return undefined;
    const found = await keys.find(kid);
    return found?.algorithm === alg ? verifier.verify(presented, found) : undefined;
  };
}

/** The keys of a URL, read again when they are old or when a token names an unknown one. */
class RemoteKeys {
  private keys: KeySet = new Map();
  private text = '';
  private readMs = Number.NEGATIVE_INFINITY;
  private triedMs = Number.NEGATIVE_INFINITY;
  private reading: Promise<void> | undefined;

  constructor(
    private readonly fetchAll: () => Promise<{ keys: KeySet; text: string }>,
    private readonly hooks: JwksHooks,
  ) {}

  async find(kid: string): Promise<SigningKey | undefined> {
    const isUsable = () => this.keys.has(kid) && this.ageMs() < MAX_STALE_MS;
    if (!isUsable() || this.ageMs() >= MAX_AGE_MS) {
      const reading = this.refresh();
      // Keys that are only due to be read again are used until then.
      if (!isUsable()) await reading;
    }
    return isUsable() ? this.keys.get(kid) : undefined;
  }

  private ageMs(): number {
    return this.hooks.nowMs() - this.readMs;
  }

  private refresh(): Promise<void> | undefined {
    const nowMs = this.hooks.nowMs();
    if (!this.reading && nowMs - this.triedMs >= COOLDOWN_MS) {
      this.triedMs = nowMs;
      this.reading = this.read(nowMs).finally(() => {
        this.reading = undefined;
      });
    }
    return this.reading;
  }

  private async read(nowMs: number): Promise<void> {
    try {
      const { keys, text } = await this.fetchAll();
      const hasChanged = this.text !== '' && this.text !== text;
      [this.keys, this.text, this.readMs] = [keys, text, nowMs];
      if (hasChanged) this.hooks.onChanged?.();
    } catch (error) {
      this.hooks.onProblem(error instanceof Error ? error : new Error(String(error)));
    }
  }
}

/** @throws Error when there is no complete response, or no usable key in it */
async function fetchKeys(client: OutboundClient, url: string): Promise<{ keys: KeySet; text: string }> {
  const response = await client.request(url, { headers: { accept: 'application/json' } });
  if (response.status !== 200) throw new Error(`SVC_JWT_JWKS_URL is answered ${response.status}, not 200`);
  const document = response.json();
  const listed: unknown = isRecord(document) ? document['keys'] : undefined;
  const entries = Array.isArray(listed) ? listed.slice(0, MAX_KEYS).filter(isRecord) : [];
  const keys = new Map(
    entries.flatMap((entry) => {
      const { kid } = entry;
      const found = typeof kid === 'string' && kid !== '' ? toSigningKey(entry) : undefined;
      return found ? [[String(kid), found] as const] : [];
    }),
  );
  if (keys.size === 0) throw new Error('SVC_JWT_JWKS_URL has no key for RS256 or ES256 with a kid');
  return { keys, text: response.text() };
}

/** Undefined for keys of other kinds and uses, which a set may contain as well. */
function toSigningKey(entry: Record<string, unknown>): SigningKey | undefined {
  const algorithm = getAlgorithm(entry);
  if (!algorithm || (entry['use'] ?? 'sig') !== 'sig' || (entry['alg'] ?? algorithm) !== algorithm) return undefined;
  try {
    const key = createPublicKey({ key: entry as JsonWebKey, format: 'jwk' });
    const { modulusLength = MIN_RSA_BITS } = key.asymmetricKeyDetails ?? {};
    return modulusLength >= MIN_RSA_BITS ? { key, algorithm } : undefined;
  } catch {
    // One broken key must not disable the others.
    return undefined;
  }
}

function getAlgorithm({ kty, crv }: Record<string, unknown>): SigningKey['algorithm'] | undefined {
  if (kty === 'RSA') return 'RS256';
  return kty === 'EC' && crv === 'P-256' ? 'ES256' : undefined;
}
