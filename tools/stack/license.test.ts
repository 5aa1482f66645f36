import { createPublicKey, verify } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ensureLicense, issueLicense } from './license';

interface LicenseFile {
  payload: Record<string, unknown>;
  signature: string;
}

const signatureHolds = (text: string, publicKey: string) => {
  const { payload, signature } = JSON.parse(text) as LicenseFile;
  const bytes = Buffer.from(signature.replace(/^ed25519:/, ''), 'base64');
  return verify(null, Buffer.from(JSON.stringify(payload)), createPublicKey(publicKey), bytes);
};

describe('issueLicense', () => {
  const nowMs = Date.parse('2026-01-01T00:00:00Z');

  it('signs the payload without whitespace', () => {
    const { license, publicKey } = issueLicense('enterprise', nowMs);

    expect(signatureHolds(license, publicKey)).toBe(true);
    expect(signatureHolds(license.replace('enterprise', 'team'), publicKey)).toBe(false);
  });

  it('is valid immediately and for years', () => {
    const { payload } = JSON.parse(issueLicense('team', nowMs).license) as LicenseFile;

    expect(payload).toMatchObject({ plan: 'team', not_before: '2025-12-31T00:00:00.000Z' });
    expect(payload['expires_at']).toBe('2035-12-30T00:00:00.000Z');
  });
});

describe('ensureLicense', () => {
  let dir: string;
  beforeEach(() => (dir = mkdtempSync(join(tmpdir(), 'svc-license-'))));
  afterEach(() => rmSync(dir, { recursive: true }));

  it('issues once, and again when the license is about to expire or the file is damaged', () => {
    const read = (nowMs: number) => readFileSync(ensureLicense(dir, 'enterprise', nowMs).file, 'utf8');
    const first = read(0);
    expect(read(1)).toBe(first);

    const later = read(Date.parse('1979-12-01T00:00:00Z'));
    expect(later).not.toBe(first);

    writeFileSync(join(dir, 'enterprise.json'), later.slice(0, 20));
    const { file, publicKey } = ensureLicense(dir, 'enterprise', 0);
    expect(signatureHolds(readFileSync(file, 'utf8'), readFileSync(publicKey, 'utf8'))).toBe(true);
  });
});
