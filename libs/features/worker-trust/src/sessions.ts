import { isSessionToken, type SessionClaims, type SessionTokens, sha256 } from '@svc/identity';
import type { RefusalReason } from './attestation';
import type { WorkerSession } from './worker-trust.repository';

/** Difference of clocks that is tolerated, and time for which a renewed token stays valid for packets under way. */
export const SESSION_SKEW_MS = 60_000;
const MAX_TOKENS = 16_384;

export type SessionRefusal = Extract<RefusalReason, `session_${string}`>;

/** What is known of the sessions of one worker. */
export interface SessionHolder {
  credential: { worker_id: string; tenant_id: string };
  session?: WorkerSession | undefined;
}

/** Checks session tokens of workers against the session on record. */
export class SessionCheck {
  /** Claims by the hash of a token, so that its signature is verified once. The oldest are dropped. */
  private readonly read = new Map<string, SessionClaims>();

  constructor(
    private readonly tokens: SessionTokens,
    private readonly clock: { nowMs(): number },
  ) {}

  /** Whether a token was signed here and is newer than what is known of the worker's sessions, so that they must be read again. */
  isNewer({ session }: SessionHolder, token: string): boolean {
    const claims = this.readToken(token);
    return claims !== undefined && claims.iat * 1_000 >= Math.floor((session?.issued_ms ?? 0) / 1_000) * 1_000;
  }

  findRefusal(
    { credential, session }: SessionHolder,
    token: string,
  ): { refusal: SessionRefusal } | { claims: SessionClaims } {
    const claims = this.readToken(token);
    const nowMs = this.clock.nowMs();
    if (!claims || claims.sub !== credential.worker_id || claims.tenant !== credential.tenant_id || !session)
      return { refusal: 'session_invalid' };
    const isCurrent = claims.jti === session.jti;
    // A token that is not the revoked one may be that of the next session.
    if (session.revoked) return { refusal: isCurrent ? 'session_revoked' : 'session_invalid' };
    if (claims.exp * 1_000 + SESSION_SKEW_MS < nowMs) return { refusal: 'session_expired' };
    const isPrevious = claims.jti === session.previous && nowMs < (session.previous_ms ?? 0);
    return isCurrent || isPrevious ? { claims } : { refusal: 'session_invalid' };
  }

  /** Claims of a token that was signed here, also of one that has ended. */
  readToken(token: string): SessionClaims | undefined {
    if (!isSessionToken(token)) return undefined;
    const key = sha256(token);
    const known = this.read.get(key);
    if (known) return known;
    const claims = this.tokens.read(token);
    if (!claims) return undefined;
    this.read.set(key, claims);
    const [oldest] = this.read.keys();
    if (this.read.size > MAX_TOKENS && oldest !== undefined) this.read.delete(oldest);
    return claims;
  }
}
