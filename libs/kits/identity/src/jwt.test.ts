import { sign, type Secret, type SignOptions } from 'jsonwebtoken';
import { generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openJwt, type JwtSettings } from './jwt';

const pair = () => generateKeyPairSync('rsa', { modulusLength: 2048 });
const pem = (key: ReturnType<typeof pair>['publicKey']) => key.export({ type: 'spki', format: 'pem' }).toString();
const rsa = pair();
const settings: JwtSettings = {
  hmacSecret: 'unit-hmac',
  publicKey: pem(rsa.publicKey),
  publicKeyPath: '',
  issuer: '',
  audience: '',
  defaultRole: '',
  clockSkewSec: 30,
  defaultTenant: 'default',
  production: false,
};
const nowSec = 1_800_000_000;
let clockMs = nowSec * 1_000;
const problems: string[] = [];
const check = (token: string, some: Partial<JwtSettings> = {}) => open(some)?.(token);
const open = (some: Partial<JwtSettings> = {}) =>
  openJwt({ ...settings, ...some }, { nowMs: () => clockMs, onProblem: ({ message }) => void problems.push(message) });
const claims = { iss: 'svc-dev', exp: nowSec + 60, sub: 'ann' };
const token = (more: object = {}, options: SignOptions = {}, key: Secret = 'unit-hmac') =>
  sign({ ...claims, ...more }, key, { noTimestamp: true, ...options });

describe('JWTs of static keys', () => {
  it('accepts HS256 and RS256, each with its own key', async () => {
    expect(await check(token())).toMatchObject({
      principalId: 'ann',
      tenant: 'default',
      role: 'viewer',
      source: 'jwt',
    });
    expect(await check(token({}, { algorithm: 'RS256' }, rsa.privateKey))).toMatchObject({ principalId: 'ann' });
  });

  it('decodes a secret that begins with base64:', async () => {
    expect(await check(token(), { hmacSecret: `base64:${Buffer.from('unit-hmac').toString('base64')}` })).toBeDefined();
  });

  it('claims set role, tenant, principal and cross-tenant access', async () => {
    const more = { role: 'secops', tenant: 'acme', allow_cross_tenant: '1' };

    expect(await check(token(more))).toMatchObject({ role: 'admin', tenant: 'acme', allowCrossTenant: true });
    expect(await check(token({ roles: [7, 'operator'], tenant_id: 'beta' }))).toMatchObject({
      role: 'operator',
      tenant: 'beta',
      allowCrossTenant: false,
    });
    expect(await check(token(), { defaultRole: 'user' })).toMatchObject({ role: 'user' });
  });

  const publicPem = settings.publicKey;
  it.each<[string, string, Partial<JwtSettings>?]>([
    ['no exp', sign({ iss: 'svc-dev', sub: 'ann' }, 'unit-hmac', { noTimestamp: true })],
    ['exp beyond the leeway', token({ exp: nowSec - 31 })],
    ['nbf in the future', token({ nbf: nowSec + 31 })],
    ['another issuer', token({ iss: 'evil' })],
    ['another audience', token({ aud: 'else' }), { audience: 'svc' }],
    ['no audience', token(), { audience: 'svc' }],
    ['another secret', token({}, {}, 'other')],
    ['another algorithm of the same secret', token({}, { algorithm: 'HS512' })],
    ['alg none', `${Buffer.from('{"alg":"none"}').toString('base64url')}.${token().split('.')[1] ?? ''}.`],
    ['the public key used as a secret', token({}, {}, publicPem), { hmacSecret: '' }],
    ['a tenant that is a pattern', token({ tenant: '*' })],
    [
      'its own key',
      sign(claims, 'own', { noTimestamp: true, header: { alg: 'HS256', jwk: { kty: 'oct', k: 'b3du' } } as never }),
    ],
    [
      'a key id that is a path',
      sign(claims, '', {
        noTimestamp: true,
        allowInsecureKeySizes: true,
        algorithm: 'none',
        keyid: '../../../dev/null',
      }),
    ],
    [
      'a URL of keys',
      sign(claims, 'own', {
        noTimestamp: true,
        header: { alg: 'HS256', jku: 'http://127.0.0.1:1/', x5u: 'http://127.0.0.1:1/' },
      }),
    ],
    ['an extension', token({}, { header: { alg: 'HS256', crit: ['b64'] } })],
    ['9,000 characters', token({ more: 'x'.repeat(9_000) })],
    ['no token at all', 'nonsense'],
  ])('refused: %s', async (_, presented, some = {}) => {
    expect(await check(presented, some)).toBeUndefined();
  });

  it('applies the leeway and accepts a list of audiences', async () => {
    expect(await check(token({ exp: nowSec - 29 }))).toBeDefined();
    expect(await check(token({ aud: ['a', 'svc'] }), { audience: 'svc' })).toBeDefined();
  });

  it('a changed public key file takes effect after 30 s; an invalid one keeps the old key', async () => {
    const dir = mkdtempSync(join(tmpdir(), 'jwt-'));
    const publicKeyPath = join(dir, 'key.pem');
    const next = pair();
    writeFileSync(publicKeyPath, pem(rsa.publicKey));
    const jwt = open({ publicKey: '', publicKeyPath });
    const byNext = token({ exp: nowSec + 600 }, { algorithm: 'RS256' }, next.privateKey);

    writeFileSync(publicKeyPath, pem(next.publicKey));
    expect(await jwt?.(byNext)).toBeUndefined();
    clockMs += 30_000;
    expect(await jwt?.(byNext)).toBeDefined();
    writeFileSync(publicKeyPath, 'broken');
    clockMs += 30_000;

    expect(await jwt?.(byNext)).toBeDefined();
    expect(problems).toEqual([expect.stringContaining('SVC_JWT_PUBLIC_KEY_PATH')]);
    rmSync(dir, { recursive: true });
  });

  it('a token that was verified is refused when it has expired, or its key was replaced', async () => {
    const dir = mkdtempSync(join(tmpdir(), 'jwt-'));
    const publicKeyPath = join(dir, 'key.pem');
    writeFileSync(publicKeyPath, pem(rsa.publicKey));
    const jwt = open({ publicKey: '', publicKeyPath });
    const exp = Math.floor(clockMs / 1_000) + 60;
    const [brief, lasting] = [exp, exp + 600].map((at) =>
      token({ exp: at }, { algorithm: 'RS256' }, rsa.privateKey),
    ) as [string, string];

    for (let i = 0; i < 2; i++) expect([jwt?.(brief), jwt?.(lasting)]).toEqual([expect.anything(), expect.anything()]);
    clockMs = (exp + settings.clockSkewSec) * 1_000;
    expect([jwt?.(brief), jwt?.(lasting)]).toEqual([undefined, expect.anything()]);
    writeFileSync(publicKeyPath, pem(pair().publicKey));
    clockMs += 30_000;

    expect(await jwt?.(lasting)).toBeUndefined();
    rmSync(dir, { recursive: true });
  });

  it('is undefined without a key', () => {
    expect(open({ hmacSecret: '', publicKey: '' })).toBeUndefined();
  });

  it.each<[Partial<JwtSettings>, RegExp]>([
    [{ clockSkewSec: 301 }, /SVC_JWT_CLOCK_SKEW/],
    [{ publicKey: 'nonsense' }, /SVC_JWT_PUBLIC_KEY: is not a public key/],
    [{ production: true, audience: 'svc' }, /SVC_JWT_ISSUER/],
    [{ production: true, issuer: 'us' }, /SVC_JWT_AUDIENCE/],
    [{ production: true, issuer: 'us', audience: 'svc' }, /SVC_JWT_HMAC_SECRET must have at least 32/],
  ])('does not start with %p', (some, message) => {
    expect(() => open(some)).toThrow(message);
  });
});
