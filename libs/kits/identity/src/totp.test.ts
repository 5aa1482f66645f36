import { randomBytes } from 'node:crypto';
import { openSealedTexts } from './sealed-text';
import { findTotpStep, hashRecoveryCode, newRecoveryCodes, newTotpSecret, toTotpUrl } from './totp';

describe('time-based codes', () => {
  // Base32 of the secret of RFC 6238, and the last six digits of its vectors.
  const secret = 'GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ';

  it.each([
    [59, '287082', 1],
    [1_111_111_109, '081804', 37_037_036],
    [1_234_567_890, '005924', 41_152_263],
    [20_000_000_000, '353130', 666_666_666],
  ])('at %d s: %s', (sec, code, step) => {
    expect(findTotpStep(secret, code, sec * 1_000)).toBe(step);
  });

  it('are accepted one step early or late, once, and never after a newer one', () => {
    const at = (step: number, last?: number) => findTotpStep(secret, '287082', step * 30_000, last);

    expect([at(0), at(1), at(2), at(3)]).toEqual([1, 1, 1, undefined]);
    expect([at(1, 0), at(1, 1), at(1, 2)]).toEqual([1, undefined, undefined]);
  });

  it.each(['', '28708', '2870822', '28708a', ' 287082', '-87082'])('are not %j', (code) => {
    expect(findTotpStep(secret, code, 59_000)).toBeUndefined();
  });

  it('are made from a new secret, which its URL contains', () => {
    const made = newTotpSecret(randomBytes);

    expect(made).toMatch(/^[A-Z2-7]{32}$/);
    expect(toTotpUrl(made, 'ann@acme', 'Control plane')).toMatch(
      new RegExp(`^otpauth://totp/Control%20plane:ann%40acme\\?.*secret=${made}`),
    );
  });
});

describe('recovery codes', () => {
  it('are different, and are found however they are typed', () => {
    const codes = newRecoveryCodes(randomBytes);
    const [first = ''] = codes;

    expect(new Set(codes).size).toBe(10);
    expect(first).toMatch(/^([A-Z2-7]{4}-){3}[A-Z2-7]{4}$/);
    expect(hashRecoveryCode(` ${first.toLowerCase().replaceAll('-', ' ')} `)).toBe(hashRecoveryCode(first));
  });
});

describe('sealed texts', () => {
  const [old, current] = ['first-key-of-these-tests-0123456789', 'second-key-of-these-tests-012345678'] as const;

  it('are opened for their owner, also with a key that was replaced', () => {
    const sealed = openSealedTexts([old]).seal('secret', 'u1');

    expect(sealed).not.toContain('secret');
    expect(openSealedTexts([current, old]).open(sealed, 'u1')).toBe('secret');
  });

  it('are not opened for another owner, with another key, or when they were changed', () => {
    const texts = openSealedTexts([old]);
    const sealed = texts.seal('secret', 'u1');
    const bytes = Buffer.from(sealed, 'base64url');
    const flipped = Array.from(bytes, (byte, i) =>
      Buffer.concat([bytes.subarray(0, i), Buffer.of(byte ^ 1), bytes.subarray(i + 1)]).toString('base64url'),
    );

    expect(texts.open(sealed, 'u2')).toBeUndefined();
    expect(openSealedTexts([current]).open(sealed, 'u1')).toBeUndefined();
    for (const other of [...flipped, '', 'AA', sealed.slice(0, -8)]) expect(texts.open(other, 'u1')).toBeUndefined();
  });
});
