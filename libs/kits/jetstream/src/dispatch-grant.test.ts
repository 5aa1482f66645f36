import {
  canonicalMessage,
  decodePacket,
  encodeJobRequest,
  type JobRequestDraft,
  splitGrant,
  wire,
  withGrant,
} from '@svc/contract';
import { createPrivateKey, generateKeyPairSync, sign } from 'node:crypto';
import { type GrantFacts, openGrantKey, openGrantSigner, verifyGrant } from './dispatch-grant';
import { openPacketSigner } from './packet-signature';

const newKey = () => {
  const { privateKey } = generateKeyPairSync('ed25519');
  const signer = openGrantSigner(privateKey);
  return { privateKey, signer, key: openGrantKey(signer.publicKeyPem) };
};
const [own, next, stranger] = [newKey(), newKey(), newKey()];
const nowMs = 1_800_000_000_000;
const received = { tenant: 'acme', jobId: 'j1', dispatchId: 'd1', attempt: 2, workerId: 'w1' };
const facts: GrantFacts = {
  ...received,
  approval: 'granted',
  decision: 'REQUIRE_APPROVAL',
  policySnapshot: 'v1:abc',
  jobHash: 'a'.repeat(64),
  approver: { name: 'boss', role: 'admin', atSec: 1_799_999_000 },
  inputSha256: 'b'.repeat(64),
};
const head = { trace_id: 't', sender_id: 'scheduler', nowUs: nowMs * 1_000 };
const draft: JobRequestDraft = {
  job_id: 'j1',
  topic: 'job.x',
  env: { zebra: '1', ant: '2', '10': 'ten', '9': 'nine' },
  labels: { approval_granted: 'true' },
};
const encode = (more: JobRequestDraft = {}) =>
  encodeJobRequest(head, canonicalMessage({ ...draft, ...more }) as JobRequestDraft);
const granted = own.signer.seal(encode(), facts, nowMs);
const check = (bytes: Uint8Array, { keys = [own.key], as = received, at = nowMs } = {}) => {
  const result = verifyGrant(bytes, keys, as, at);
  return result.kind === 'fault' ? result.fault : result.kind;
};

describe('the grant of a dispatch', () => {
  it('states the approval, and leaves the request readable', () => {
    const decoded = decodePacket(granted);

    expect(verifyGrant(granted, [own.key], received, nowMs)).toMatchObject({ kind: 'valid', facts });
    expect(decoded).toMatchObject({ kind: 'ok', packet: { body: { job_id: 'j1', env: draft.env } } });
  });

  it('is accepted with any of several keys, and with no other', () => {
    expect(check(granted, { keys: [next.key, own.key] })).toBe('valid');
    expect(check(granted, { keys: [next.key, stranger.key] })).toBe('grant_invalid');
    expect(check(granted, { keys: [] })).toBe('grant_invalid');
  });

  it('survives a signature of the packet, which encodes it again', () => {
    const pem = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({ type: 'pkcs8', format: 'pem' });

    expect(check(openPacketSigner(pem.toString()).seal(granted))).toBe('valid');
  });

  it('covers every byte of the request', () => {
    const { request } = splitGrant(granted) ?? {};
    const start = Buffer.from(granted).indexOf(Buffer.from(request ?? []));
    const changed = [...(request ?? []).keys()].map((at) => {
      const copy = Uint8Array.from(granted);
      copy[start + at] = (copy[start + at] ?? 0) ^ 1;
      return check(copy);
    });

    expect(changed.length).toBeGreaterThan(50);
    expect(changed).not.toContain('valid');
  });

  it.each([
    ['another job', { jobId: 'j2' }],
    ['another dispatch', { dispatchId: 'd2' }],
    ['another attempt', { attempt: 3 }],
    ['another worker', { workerId: 'w2' }],
    ['another tenant', { tenant: 'globex' }],
  ])('is not valid for %s', (_, other) => {
    expect(check(granted, { as: { ...received, ...other } })).toBe('grant_invalid');
  });

  it('cannot be moved to another request', () => {
    const { grant } = splitGrant(granted) ?? {};

    expect(check(withGrant(encode({ topic: 'job.y' }), () => grant ?? new Uint8Array()))).toBe('grant_invalid');
  });

  it('is missing, and not valid, in a packet with none, two, or two requests that a decoder merges', () => {
    const twice = withGrant(granted, () => splitGrant(granted)?.grant ?? new Uint8Array());
    const merged = Buffer.concat([granted, wire.BusPacket.encode({ job_request: { topic: 'job.y' } }).finish()]);

    expect([check(encode()), check(twice), check(merged)]).toEqual(['grant_missing', 'grant_invalid', 'grant_invalid']);
    expect(check(Buffer.from('noise'))).toBe('grant_invalid');
  });

  it('expires after ten minutes, and is not valid before it was issued; clocks may differ by one', () => {
    const at = (minutes: number) => check(granted, { at: nowMs + minutes * 60_000 });

    expect([at(-2), at(-0.9), at(10.9), at(11.1)]).toEqual(['grant_invalid', 'valid', 'valid', 'grant_expired']);
  });

  it.each([
    ['another algorithm', { alg: 'none' }],
    ['another type', { typ: 'JWT' }],
    ['another key id', { kid: 'x' }],
  ])('is not valid with %s in its header, even if signed', (_, change) => {
    const parts = Buffer.from(splitGrant(granted)?.grant ?? [])
      .toString()
      .split('.');
    const header = JSON.parse(Buffer.from(parts[0] ?? '', 'base64url').toString()) as object;
    const signed = `${Buffer.from(JSON.stringify({ ...header, ...change })).toString('base64url')}.${parts[1] ?? ''}`;
    const signature = sign(null, Buffer.from(signed), own.privateKey).toString('base64url');

    expect(check(withGrant(encode(), () => Buffer.from(`${signed}.${signature}`)))).toBe('grant_invalid');
  });

  it('takes Ed25519 keys only', () => {
    const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const pem = (key: typeof publicKey, type: 'spki' | 'pkcs8') => key.export({ type, format: 'pem' }).toString();

    expect(() => openGrantKey(pem(publicKey, 'spki'))).toThrow('Ed25519');
    expect(() => openGrantSigner(createPrivateKey(pem(privateKey, 'pkcs8')))).toThrow('Ed25519');
  });
});
