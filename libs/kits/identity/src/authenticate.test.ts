import { queues } from '@svc/queues.config';
import { openStore } from '@svc/store';
import { startRedis, type TestServer } from '@svc/testing';
import { Redis } from 'ioredis';
import { openApiKeys } from './api-keys';
import { authenticator, type AuthenticateSettings, type Presented } from './authenticate';
import { sha256 } from './digest';
import type { Identity, KeySource } from './identity';
import { openSessions, type Sessions } from './sessions';

const settings: AuthenticateSettings = {
  defaultTenant: 'default',
  allowAnonymous: false,
  allowHeaderPrincipal: false,
  jwtRequired: false,
  production: false,
};
const keyList = [
  { key: 'root', allow_cross_tenant: true },
  { key: 'acme-admin', tenant: 'acme', principal_id: 'ann' },
  { key: 'acme-viewer', tenant: 'acme', role: 'viewer' },
  { key: 'short', tenant: 'acme', expires_at: '2026-01-01T01:00:00Z' },
];
const jwtIdentity: Identity = {
  tenant: '',
  principalId: 'joe',
  role: 'operator',
  keyId: '',
  keyName: '',
  allowCrossTenant: false,
  source: 'jwt',
  submitter: 'jwt:1',
};
const scoped: KeySource = {
  find: (digest) =>
    digest === sha256('scoped')
      ? { ...jwtIdentity, tenant: 'acme', source: 'api_key', scopes: ['jobs:read'] }
      : undefined,
};

describe('authentication', () => {
  let nowMs = Date.UTC(2026, 0, 1);
  let store: TestServer;
  let redis: Redis;
  let sessions: Sessions;
  const configured = openApiKeys(
    {
      key: '',
      keys: JSON.stringify(keyList),
      path: '',
      defaultTenant: 'default',
      production: false,
      skipSecretValidation: false,
    },
    { nowMs: () => nowMs, onProblem: (problem) => { throw problem; }, onAdminByDefault: () => undefined },
  ); // prettier-ignore
  beforeAll(async () => {
    store = await startRedis();
    redis = new Redis(store.url);
    const { sessions: stored } = openStore(redis, queues, { metaSec: 60, dataSec: 60 });
    sessions = openSessions(stored, { ttlMs: 60_000, idleMs: 60_000, nowMs: () => nowMs });
  });
  afterAll(async () => {
    redis.disconnect();
    await store.stop();
  });

  const ask = async (presented: Presented, some: Partial<AuthenticateSettings> = {}, keys: KeySource[] = [configured, scoped]) => {
    const bearer = [(token: string) => (token === 'good.jwt' ? jwtIdentity : undefined)];
    const outcome = await authenticator({ keys, bearer, sessions }, { ...settings, ...some })(presented);
    return outcome.kind === 'caller' ? outcome.caller : outcome.code;
  }; // prettier-ignore
  const signIn = (key: string, tenant = '') =>
    sessions.create({ kind: 'api_key', keyDigest: sha256(key), tenant, method: 'api_key', address: '' });

  describe('precedence of credentials', () => {
    it('a key yields its tenant, role, principal and submitter', async () => {
      expect(await ask({ apiKey: ' "acme-admin" ' })).toEqual({
        tenant: 'acme',
        scope: 'acme',
        principalId: 'ann',
        role: 'admin',
        keyId: `static:${sha256('acme-admin').slice(0, 12)}`,
        keyName: 'ann',
        allowCrossTenant: false,
        source: 'api_key',
        submitterId: `apikey:${sha256('acme-admin').slice(0, 16)}|principal:ann`,
      });
    });

    it('a bearer token takes precedence over a key; an invalid token is refused even with a valid key', async () => {
      expect(await ask({ authorization: 'Bearer good.jwt', apiKey: 'root', tenant: 'default' })).toMatchObject({
        source: 'jwt',
      });
      expect(await ask({ authorization: 'Bearer bad.jwt', apiKey: 'root' })).toBe('unauthorized');
    });

    it('a key takes precedence over the cookie', async () => {
      const { token } = await signIn('acme-admin');

      expect(await ask({ apiKey: 'wrong', cookie: `svc_session=${token}` })).toBe('unauthorized');
    });

    it('accepts a key from a WebSocket subprotocol', async () => {
      const protocols = `svc-api-key, ${Buffer.from('acme-viewer').toString('base64url')}`;

      expect(await ask({ protocols })).toMatchObject({ role: 'viewer' });
      expect(await ask({ protocols: 'svc-api-key' })).toBe('unauthorized');
    });

    it('refuses an expired key and an unknown key with the same code', async () => {
      const early = nowMs;
      expect(await ask({ apiKey: 'short' })).toMatchObject({ tenant: 'acme' });
      nowMs = Date.UTC(2026, 0, 1, 2);

      expect(await ask({ apiKey: 'short' })).toBe('unauthorized');
      expect(await ask({ apiKey: 'unknown' })).toBe('unauthorized');
      nowMs = early;
    });

    it('a request without credentials is anonymous only where that is allowed, and never in production', async () => {
      expect(await ask({})).toBe('unauthorized');
      expect(await ask({}, { allowAnonymous: true })).toMatchObject({
        role: 'anonymous',
        tenant: 'default',
        source: 'anonymous',
      });
      expect(await ask({}, { allowAnonymous: true, production: true })).toBe('unauthorized');
      expect(await ask({ apiKey: 'wrong' }, { allowAnonymous: true })).toBe('unauthorized');
    });

    it('with SVC_JWT_REQUIRED only a JWT is accepted', async () => {
      const { token } = await signIn('acme-admin');
      const only = { jwtRequired: true };

      expect(await ask({ authorization: 'Bearer good.jwt' , tenant: 'default'}, only)).toMatchObject({ source: 'jwt' });
      for (const presented of [{ apiKey: 'root' }, { cookie: `svc_session=${token}` }, { authorization: `Bearer ${token}` }]) {
        expect(await ask(presented, only)).toBe('unauthorized');
      }
    }); // prettier-ignore
  });

  describe('tenants', () => {
    it.each<[string, string | undefined, unknown]>([
      ['acme-admin', undefined, { tenant: 'acme', scope: 'acme' }],
      ['acme-admin', 'acme', { tenant: 'acme', scope: 'acme' }],
      ['root', undefined, { tenant: 'default', scope: '*' }],
      ['root', 'beta', { tenant: 'beta', scope: 'beta' }],
    ])('key %s with X-Tenant-ID %s', async (apiKey, tenant, expected) => {
      expect(await ask({ apiKey, tenant })).toMatchObject(expected as object);
    });

    it.each([
      ['acme-admin', 'beta'],
      ['root', '*'],
      ['root', 'a:b'],
      ['root', 'acme, beta'],
    ])('key %s is denied X-Tenant-ID %s', async (apiKey, tenant) => {
      expect(await ask({ apiKey, tenant })).toBe('tenant_access_denied');
    });

    it('a credential without a tenant must name the default tenant', async () => {
      const authorization = 'Bearer good.jwt';

      expect(await ask({ authorization })).toBe('tenant_id_required');
      expect(await ask({ authorization, tenant: 'acme' })).toBe('tenant_access_denied');
      expect(await ask({ authorization, tenant: 'default' })).toMatchObject({ tenant: 'default' });
    });

    it('the scope of a key is checked before the tenant', async () => {
      const presented = { apiKey: 'scoped', tenant: 'beta', request: { method: 'POST', path: '/api/v1/jobs' } };

      expect(await ask(presented)).toBe('key_scope_insufficient');
      expect(await ask({ ...presented, request: { method: 'GET', path: '/api/v1/jobs' } })).toBe(
        'tenant_access_denied',
      );
    });
  });

  describe('header principals', () => {
    it('set the principal only if the credential has none', async () => {
      expect(await ask({ apiKey: 'acme-viewer', principalId: 'bo' })).toMatchObject({ principalId: 'bo' });
      expect(await ask({ apiKey: 'acme-admin', principalId: 'bo' })).toMatchObject({ principalId: 'ann' });
    });

    it('can lower a role but never raise it', async () => {
      expect(await ask({ apiKey: 'acme-admin', principalRole: 'viewer' })).toMatchObject({ role: 'viewer' });
      expect(await ask({ apiKey: 'acme-viewer', principalRole: 'admin' })).toMatchObject({ role: 'viewer' });
      expect(await ask({ apiKey: 'acme-viewer', principalRole: 'operator' })).toMatchObject({ role: 'viewer' });
      expect(await ask({ apiKey: 'acme-viewer', principalRole: 'user' })).toMatchObject({ role: 'viewer' });
    });

    it('are ignored in production unless trusted', async () => {
      const presented = { apiKey: 'acme-viewer', principalId: 'bo' };

      expect(await ask(presented, { production: true })).toMatchObject({ principalId: '' });
      expect(await ask(presented, { production: true, allowHeaderPrincipal: true })).toMatchObject({
        principalId: 'bo',
      });
    });
  });

  describe('sessions', () => {
    it.each(['authorization', 'apiKey', 'cookie'] as const)('authenticate as their key in %s', async (place) => {
      const { token } = await signIn('acme-admin');
      const value = { authorization: `Bearer ${token}`, apiKey: token, cookie: `a=b; svc_session=${token}` }[place];

      expect(await ask({ [place]: value })).toMatchObject({ source: 'session', tenant: 'acme', principalId: 'ann' });
    });

    it('keep the chosen tenant if the key may choose one', async () => {
      const free = await signIn('root', 'beta');
      const bound = await signIn('acme-admin', 'beta');

      expect(await ask({ apiKey: free.token })).toMatchObject({ tenant: 'beta' });
      expect(await ask({ apiKey: bound.token })).toMatchObject({ tenant: 'acme' });
    });

    it('end with their key', async () => {
      const { token } = await signIn('acme-admin');

      expect(await ask({ apiKey: token }, {}, [scoped])).toBe('unauthorized');
    });

    it('end by sign-out and by expiry; an invented token is refused', async () => {
      const { token } = await signIn('acme-admin');
      const { token: old, expiresAtMs } = await signIn('acme-admin');
      await sessions.end(token);

      expect(await ask({ apiKey: token })).toBe('unauthorized');
      expect(await ask({ apiKey: `session-${'A'.repeat(43)}` })).toBe('unauthorized');
      const early = nowMs;
      nowMs = expiresAtMs;
      expect(await ask({ apiKey: old })).toBe('unauthorized');
      nowMs = early;
    });

    it('store neither the token nor the key, and expire in the store', async () => {
      await redis.flushall();
      const { token } = await signIn('acme-admin');
      const [key = ''] = await redis.keys('session:*');

      expect(`${key} ${JSON.stringify(await redis.hgetall(key))}`).not.toMatch(new RegExp(`${token}|acme-admin`));
      expect(await redis.ttl(key)).toBeGreaterThan(0);
    });
  });
});
