import { sign, type SignOptions } from 'jsonwebtoken';
import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { openJwks, type JwksSettings } from './jwks';

const rsa = generateKeyPairSync('rsa', { modulusLength: 2_048 });
const next = generateKeyPairSync('rsa', { modulusLength: 2_048 });
const weak = generateKeyPairSync('rsa', { modulusLength: 1_024 });
const ec = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const nowSec = 1_800_000_000;
const claims = { iss: 'https://issuer.example', exp: nowSec + 86_400, sub: 'ann', role: 'operator', tenant: 'acme' };
const token = (key: KeyObject | string, options: SignOptions, more: object = {}) =>
  sign({ ...claims, ...more }, key, { noTimestamp: true, algorithm: 'RS256', ...options });
const jwk = (key: KeyObject, kid: string, more: object = {}) => ({ ...key.export({ format: 'jwk' }), kid, ...more });

describe('JWTs of an issuer with a key set', () => {
  let server: Server;
  let requests = 0;
  let nowMs = nowSec * 1_000;
  let status = 200;
  let keys: object[] = [];
  const problems: string[] = [];
  let changes = 0;
  beforeAll(async () => {
    server = createServer((_, res) => {
      requests += 1;
      res.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify({ keys }));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  });
  afterAll(() => new Promise((resolve) => server.close(resolve)));
  beforeEach(() => {
    [requests, status, nowMs, changes] = [0, 200, nowSec * 1_000, 0];
    problems.length = 0;
    keys = [
      { kty: 'oct', k: 'c2VjcmV0', kid: 'secret' },
      jwk(rsa.publicKey, 'encryption', { use: 'enc' }),
      jwk(weak.publicKey, 'weak'),
      { kty: 'RSA', n: 'broken', kid: 'broken' },
      jwk(rsa.publicKey, 'a', { use: 'sig', alg: 'RS256' }),
      jwk(ec.publicKey, 'e'),
      jwk(rsa.publicKey, '../../etc/passwd'),
    ];
  });
  const open = (some: Partial<JwksSettings> = {}) =>
    openJwks(
      {
        url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/keys`,
        ...{ issuer: 'https://issuer.example', audience: '', defaultRole: '', clockSkewSec: 30, defaultTenant: 'default' },
        ...{ allowPrivate: true, production: false, ...some },
      },
      {
        nowMs: () => nowMs,
        onProblem: ({ message }) => void problems.push(message),
        onChanged: () => void (changes += 1),
      },
    ); // prettier-ignore

  it('accepts RS256 and ES256, each with the key that the token names; the keys are read once', async () => {
    const check = open();

    const found = await Promise.all([
      check(token(rsa.privateKey, { keyid: 'a' })),
      check(token(ec.privateKey, { keyid: 'e', algorithm: 'ES256' })),
      // A name is only ever compared.
      check(token(rsa.privateKey, { keyid: '../../etc/passwd' })),
    ]);

    expect(found).toMatchObject(Array(3).fill({ principalId: 'ann', role: 'operator', tenant: 'acme', source: 'jwt' }));
    expect(requests).toBe(1);
  });

  const pem = rsa.publicKey.export({ type: 'spki', format: 'pem' }).toString();
  const header = (fields: object) => Buffer.from(JSON.stringify(fields)).toString('base64url');
  const payload = token(rsa.privateKey, { keyid: 'a' }).split('.')[1] ?? '';
  it.each([
    ['no kid', token(rsa.privateKey, {})],
    ['an unknown kid', token(rsa.privateKey, { keyid: 'z' })],
    ['the kid of another key', token(next.privateKey, { keyid: 'a' })],
    ['alg none', `${header({ alg: 'none', kid: 'a' })}.${payload}.`],
    ['the public key as a secret', sign(claims, pem, { algorithm: 'HS256', keyid: 'a', noTimestamp: true })],
    ['a symmetric key of the set', sign(claims, 'secret', { algorithm: 'HS256', keyid: 'secret', noTimestamp: true })],
    ['another algorithm of the same key', token(rsa.privateKey, { keyid: 'a', algorithm: 'RS512' })],
    ['an algorithm of another kind of key', `${header({ alg: 'ES256', kid: 'a' })}.${payload}.AAAA`],
    ['a key for encryption', token(rsa.privateKey, { keyid: 'encryption' })],
    ['a key of 1,024 bits', token(weak.privateKey, { keyid: 'weak', allowInsecureKeySizes: true })],
    ['a broken key', token(rsa.privateKey, { keyid: 'broken' })],
    ['its own key', token(next.privateKey, { header: { alg: 'RS256', jwk: jwk(next.publicKey, 'n') } as never })],
    ['a URL of its keys', token(next.privateKey, { header: { alg: 'RS256', kid: 'a', jku: 'http://127.0.0.1:1/', x5u: 'http://127.0.0.1:1/' } })],
    ['an extension', token(rsa.privateKey, { header: { alg: 'RS256', kid: 'a', crit: ['b64'] } })],
    ['no exp', sign({ iss: claims.iss, sub: 'ann' }, rsa.privateKey, { algorithm: 'RS256', keyid: 'a', noTimestamp: true })],
    ['an exp in the past', token(rsa.privateKey, { keyid: 'a' }, { exp: nowSec - 31 })],
    ['an nbf in the future', token(rsa.privateKey, { keyid: 'a' }, { nbf: nowSec + 31 })],
    ['another issuer', token(rsa.privateKey, { keyid: 'a' }, { iss: 'https://evil.example' })],
    ['9,000 characters', token(rsa.privateKey, { keyid: 'a' }, { more: 'x'.repeat(9_000) })],
    ['nonsense', 'x.y.z'],
  ])('refused: %s', async (_, presented) => {
    expect(await open()(presented)).toBeUndefined();
  }); // prettier-ignore

  it('refused: another audience', async () => {
    const check = open({ audience: 'svc' });

    expect(await check(token(rsa.privateKey, { keyid: 'a' }, { aud: 'else' }))).toBeUndefined();
    expect(await check(token(rsa.privateKey, { keyid: 'a' }, { aud: ['else', 'svc'] }))).toBeDefined();
  });

  it('a new key is found by the first token that names it; unknown ones cause one request in 30 s', async () => {
    const check = open();
    await check(token(rsa.privateKey, { keyid: 'a' }));
    keys = [jwk(next.publicKey, 'b')];
    const renewed = token(next.privateKey, { keyid: 'b' });

    for (let i = 0; i < 5; i++) expect(await check(renewed)).toBeUndefined();
    expect(requests).toBe(1);
    nowMs += 30_000;

    expect(await Promise.all([check(renewed), check(renewed)])).toMatchObject([{ principalId: 'ann' }, {}]);
    expect(await check(token(rsa.privateKey, { keyid: 'a' }))).toBeUndefined();
    expect([requests, changes]).toEqual([2, 1]);
  });

  it('while the keys cannot be read, the last ones are used for an hour', async () => {
    const check = open();
    const good = token(rsa.privateKey, { keyid: 'a' });
    await check(good);
    status = 500;

    nowMs += 3_599_000;
    expect(await check(good)).toBeDefined();
    nowMs += 1_000;

    expect(await check(good)).toBeUndefined();
    expect(problems).toContain('SVC_JWT_JWKS_URL is answered 500, not 200');
  });

  it('keys in a private network, or without TLS in production, are refused', async () => {
    expect(await open({ allowPrivate: false })(token(rsa.privateKey, { keyid: 'a' }))).toBeUndefined();
    expect(await open({ production: true })(token(rsa.privateKey, { keyid: 'a' }))).toBeUndefined();
    expect([requests, problems.length]).toEqual([0, 2]);
  });
});
