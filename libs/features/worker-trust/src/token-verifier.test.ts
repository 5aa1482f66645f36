import { useRedisStore } from '@svc/fixtures/store';
import { newWorkerToken, sha256, verifyWorkerToken } from '@svc/identity';
import { toStoredToken } from './create-credential';
import { TokenVerifier, type VerifiableCredential } from './token-verifier';
import { type StoredToken, WorkerTrustRepository } from './worker-trust.repository';

const use = useRedisStore();

describe('the verification of worker tokens', () => {
  let token: string;
  let stored: StoredToken;
  let hashes: string[];
  beforeAll(async () => {
    token = newWorkerToken();
    stored = await toStoredToken(token);
  });
  beforeEach(() => (hashes = []));

  /** The credential as a process holds it that has not verified a token yet. */
  const fresh = (of: VerifiableCredential['token'] = stored, worker_id = 'w1') => ({
    credential: { worker_id },
    token: of,
  });

  /** A process of its own. */
  const verifier = (verify = verifyWorkerToken) =>
    new TokenVerifier(
      new WorkerTrustRepository(use.store.redis),
      () => undefined,
      async (...args) => {
        hashes.push(args[1]);
        return verify(...args);
      },
    );

  it('hashes a token once, also when it is presented concurrently, repeatedly and to another process', async () => {
    const [here, there] = [verifier(), verifier()];
    const known = fresh();

    const first = await Promise.all([here.verify(known, token), here.verify(known, token)]);
    const later = [here.verify(known, token), await there.verify(fresh(), token)];

    expect([...first, ...later]).toEqual(['valid', 'valid', 'valid', 'valid']);
    expect(hashes).toEqual([token]);
  });

  it('hashes no wrong token', async () => {
    const known = fresh();
    const guesses = Array.from({ length: 1_000 }, newWorkerToken);
    const odd = ['', 'x', token.toUpperCase(), `${token}0`, 'x'.repeat(100_000)];

    const outcomes = [...guesses, ...odd].map((guess) => verifier().verify(known, guess));

    expect(new Set(outcomes)).toEqual(new Set(['invalid']));
    expect(hashes).toEqual([]);
  });

  it('refuses a token with the right check and the wrong hash', async () => {
    const other = newWorkerToken();
    const forged = { ...stored, token_check: sha256(other).slice(0, 8) };

    expect(await verifier().verify(fresh(forged), other)).toBe('invalid');
  });

  it('does not apply what was verified against a replaced credential', async () => {
    await verifier().verify(fresh(), token);
    const next = newWorkerToken();
    const replaced = await toStoredToken(next);

    expect(await verifier().verify(fresh(replaced), next)).toBe('valid');
    expect(await verifier().verify(fresh(replaced), token)).toBe('invalid');
  });

  it('reports a failure, and tries again on the next packet', async () => {
    const failing = verifier(() => Promise.reject(new Error('no memory')));

    expect(await failing.verify(fresh(), token)).toBe('error');
    expect(await failing.verify(fresh(), token)).toBe('error');
    expect(hashes).toHaveLength(2);
  });

  it('runs at most two hashes at once', async () => {
    const gates: ((valid: boolean) => void)[] = [];
    const slow = verifier(() => new Promise<boolean>((resolve) => gates.push(resolve)));
    const tokens = Array.from({ length: 5 }, newWorkerToken);
    const outcomes = Promise.all(
      tokens.map((text, i) => {
        const own = { credential_hash: `h${i}`, token_check: sha256(text).slice(0, 8) };
        return slow.verify(fresh(own, `w${i}`), text);
      }),
    );
    let ended = 0;
    while (ended < tokens.length) {
      await new Promise(setImmediate);
      expect(gates.length).toBeLessThanOrEqual(2);
      for (const end of gates.splice(0)) {
        end(true);
        ended += 1;
      }
    }

    expect(new Set(await outcomes)).toEqual(new Set(['valid']));
  }); // prettier-ignore
});
