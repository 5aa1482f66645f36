import { isWorkerToken, sameDigest, sha256, verifyWorkerToken } from '@svc/identity';
import { type StoredToken, TOKEN_CHECK_CHARS, type WorkerTrustRepository } from './worker-trust.repository';

export type TokenOutcome = 'valid' | 'invalid' | 'error';

/** A credential with what this process knows of its token. */
export interface VerifiableCredential {
  credential: { worker_id: string };
  token: Pick<StoredToken, 'credential_hash' | 'token_check'>;
  /** SHA-256 of the token, once it was verified. */
  digest?: string;
}

/** Each takes 64 MiB and one thread for about 0.1 s. */
const MAX_CONCURRENT = 2;
const MAX_WAITING = 5_000;

/**
 * Verifies worker tokens. Argon2 runs once for each token that was issued: afterwards its SHA-256 is compared, which is
 * shared between processes through Redis and costs microseconds. Wrong tokens are refused by the stored part of their
 * SHA-256 and never reach argon2, so a flood of them costs one hash each. See docs/adr/0024-trust-of-workers.md.
 */
export class TokenVerifier {
  private readonly running = new Map<string, Promise<TokenOutcome>>();
  private readonly waiting: (() => void)[] = [];
  private active = 0;

  constructor(
    private readonly trust: Pick<WorkerTrustRepository, 'verifiedDigest' | 'keepVerified'>,
    private readonly onError: (error: unknown) => void,
    private readonly verifyToken: typeof verifyWorkerToken = verifyWorkerToken,
  ) {}

  /** Synchronous unless the token of this credential was never verified in this process. */
  verify(known: VerifiableCredential, token: string): TokenOutcome | Promise<TokenOutcome> {
    if (!isWorkerToken(token)) return 'invalid';
    const digest = sha256(token);
    if (known.digest !== undefined) return sameDigest(known.digest, digest) ? 'valid' : 'invalid';
    if (!sameDigest(digest.slice(0, TOKEN_CHECK_CHARS), known.token.token_check)) return 'invalid';
    const key = `${getFingerprint(known.token)}:${digest}`;
    const running = this.running.get(key);
    if (running) return running;
    if (this.running.size >= MAX_WAITING) return 'error';
    const started = this.verifyOnce(known, token, digest)
      .catch((error: unknown) => {
        this.onError(error);
        return 'error' as const;
      })
      .finally(() => this.running.delete(key));
    this.running.set(key, started);
    return started;
  }

  private async verifyOnce(known: VerifiableCredential, token: string, digest: string): Promise<TokenOutcome> {
    const { worker_id: id } = known.credential;
    const { credential_hash: hash } = known.token;
    const fingerprint = getFingerprint(known.token);
    const shared = await this.trust.verifiedDigest(id, fingerprint);
    if (shared === undefined) {
      if (!(await this.limited(() => this.verifyToken(hash, token)))) return 'invalid';
      known.digest = digest;
      await this.trust.keepVerified(id, fingerprint, digest);
      return 'valid';
    }
    known.digest = shared;
    return sameDigest(shared, digest) ? 'valid' : 'invalid';
  }

  private async limited<T>(work: () => Promise<T>): Promise<T> {
    while (this.active >= MAX_CONCURRENT) await new Promise<void>((resume) => this.waiting.push(resume));
    this.active += 1;
    try {
      return await work();
    } finally {
      this.active -= 1;
      this.waiting.shift()?.();
    }
  }
}

const FINGERPRINT_CHARS = 16;
/** Names a credential hash without containing a part of it. */
const getFingerprint = ({ credential_hash: hash }: Pick<StoredToken, 'credential_hash'>): string =>
  sha256(hash).slice(0, FINGERPRINT_CHARS);
