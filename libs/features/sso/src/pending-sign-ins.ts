import { sameDigest, sha256 } from '@svc/identity';
import { keys } from '@svc/store';
import type { Redis } from 'ioredis';
import { randomBytes } from 'node:crypto';
import type { RedirectTarget } from './redirect-target';

/** A sign-in that has begun at a provider. */
export interface PendingSignIn {
  kind: 'oidc' | 'saml';
  target: RedirectTarget;
  /** SHA-256 of the secret in the cookie of the browser that began it. */
  browser: string;
  /** OpenID Connect: nonce of the id token and PKCE verifier. */
  nonce?: string;
  verifier?: string;
  /** SAML: id of the request. */
  request?: string;
}

const SECRET_BYTES = 24;
/** A state, or the secret of a browser. */
export const newSecret = (): string => randomBytes(SECRET_BYTES).toString('base64url');
const secretPattern = /^[A-Za-z0-9_-]{32}$/;

/** Sign-ins that have begun, in Redis, so that another replica can complete them. States and secrets are stored as SHA-256. */
export class PendingSignIns {
  constructor(
    private readonly redis: Redis,
    private readonly ttlMs: number,
  ) {}

  async begin(state: string, pending: PendingSignIn): Promise<void> {
    await this.redis.set(keys.signInState(sha256(state)), JSON.stringify(pending), 'PX', this.ttlMs);
  }

  /** Ends the sign-in of a state, so that it is completed once. Undefined when there is none. */
  async take(state: string | undefined): Promise<PendingSignIn | undefined> {
    if (state === undefined || !secretPattern.test(state)) return undefined;
    const stored = await this.redis.getdel(keys.signInState(sha256(state)));
    return stored === null ? undefined : (JSON.parse(stored) as PendingSignIn);
  }

  /**
   * Remembers the id of a message that may be used once.
   *
   * @returns false when it was used before
   */
  async useOnce(id: string, untilMs: number, nowMs: number): Promise<boolean> {
    const keepMs = Math.max(1, Math.ceil(untilMs - nowMs));
    return (await this.redis.set(keys.providerMessage(sha256(id)), '1', 'PX', keepMs, 'NX')) === 'OK';
  }
}

/** Whether a sign-in was begun by the browser with this secret: otherwise a victim could be signed in as the attacker. */
export const isOwnBrowser = ({ browser }: PendingSignIn, secret: string | undefined): boolean =>
  secret !== undefined && secretPattern.test(secret) && sameDigest(browser, sha256(secret));
