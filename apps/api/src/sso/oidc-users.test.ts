import { eventually } from '@svc/testing';
import { decodeJwt } from 'jose';
import { browse, useOidc, type Jar } from './oidc.testing';

jest.setTimeout(60_000);

const mapping = '/api/v1/auth/oidc/group-role-mapping';
const backchannel = '/api/v1/auth/sso/oidc/backchannel-logout';
const bearer = (token: string) => ({ Authorization: `Bearer ${token}` });
const inSec = (sec: number) => Math.floor(Date.now() / 1_000) + sec;
const act = { event_type: 'identity.change', action: 'user.updated', severity: 'MEDIUM' } as const;

describe('users of an OpenID Connect provider', () => {
  const world = useOidc();
  const { api } = world;
  const getSession = (jar: Jar) => api.anonymous.get('/api/v1/auth/session', bearer(jar.get('svc_session') ?? ''));
  const withClaims = (change: Record<string, unknown>) => {
    world.provider.tamper = async (path, body) => {
      if (path !== '/token') return body;
      const answer = JSON.parse(body) as { id_token: string };
      return JSON.stringify({
        ...answer,
        id_token: await world.provider.sign({ ...decodeJwt(answer.id_token), ...change }),
      });
    };
  };
  const plantUser = async (over: object) => {
    const now = new Date().toISOString();
    const user = { id: '11111111-1111-4111-8111-111111111111', tenant: 'acme', username: 'alice', role: 'viewer' };
    const record = { ...user, source: 'user' as const, password: 'phc', created_at: now, updated_at: now, ...over };
    await api.store.users.write({ user: record, expected: 0, act });
    return user.id;
  };

  it('a user with a password is not taken over by a name, and is linked by a verified address', async () => {
    const id = await plantUser({ email: 'alice@example.com' });
    withClaims({ email_verified: false });
    const byName = await world.signIn();
    withClaims({ email_verified: true });
    const byAddress = await world.signIn();

    expect(byName.fragment).toMatchObject({ error: 'identity_resolution_failed' });
    expect(byAddress.fragment).toMatchObject({ user_id: id, username: 'alice' });
  });

  it('a user that SCIM created is linked by the name; one who has another identity is not', async () => {
    const id = await plantUser({ source: 'scim', password: undefined });
    const first = await world.signIn();
    withClaims({ sub: 'another-alice' });
    // Userinfo is of the real subject.
    const tamper = world.provider.tamper;
    world.provider.tamper = async (path, body) => (path === '/me' ? JSON.stringify({ sub: 'another-alice' }) : (tamper?.(path, body) ?? body)); // prettier-ignore
    const other = await world.signIn();

    expect(first.fragment).toMatchObject({ user_id: id });
    expect(other.fragment).toMatchObject({ error: 'identity_resolution_failed' });
  });

  it('a name that is the address of another user is refused, so that signing in with the address still means that user', async () => {
    const id = await plantUser({ username: 'bob', email: 'bob@example.com' });
    withClaims({ preferred_username: 'bob@example.com' });
    const { fragment } = await world.signIn();

    expect(fragment).toMatchObject({ error: 'identity_resolution_failed' });
    expect(await api.store.users.findByName('acme', 'bob@example.com')).toBeUndefined();
    expect((await api.store.users.findByEmail('acme', 'bob@example.com'))?.user.id).toBe(id);
  });

  it('a disabled user is refused, and their bearer tokens within a second', async () => {
    const { fragment } = await world.signIn();
    const token = await world.provider.sign({ iss: world.provider.issuer, aud: 'svc', sub: 'alice', exp: inSec(60) }); // prettier-ignore
    const before = await api.anonymous.get('/api/v1/jobs', bearer(token));
    const stored = await api.store.users.get(fragment['user_id'] ?? '');
    if (!stored) throw new Error('no user');
    await api.store.users.write({ user: { ...stored.user, disabled: true }, expected: stored.revision, act });

    expect(before.status).toBe(200);
    await eventually(async () => expect((await api.anonymous.get('/api/v1/jobs', bearer(token))).status).toBe(401));
    expect((await world.signIn()).fragment).toMatchObject({ error: 'identity_resolution_failed' });
  });

  it('users of a suspended tenant are neither created nor signed in', async () => {
    await api.as('admin').post('/api/v1/tenants', { id: 'initech' });
    await api.as('admin').post('/api/v1/tenants/initech/suspend', { reason: 'unpaid' });
    const read = () => api.as('everywhere').get('/api/v1/jobs', { 'X-Tenant-ID': 'initech' });
    await eventually(async () => expect((await read()).status).toBe(403));
    withClaims({ org_id: 'initech' });

    expect((await world.signIn()).fragment).toMatchObject({ error: 'identity_resolution_failed' });
    expect(await api.store.users.list('initech')).toEqual([]);
  });

  it('a role that takes permissions away ends the sessions of the user; the claims never lead to another tenant', async () => {
    withClaims({ svc_role: 'admin', org_id: 'globex', allow_cross_tenant: true });
    const jar: Jar = new Map();
    const { fragment } = await world.signIn('alice', jar);
    const asAdmin = await api.anonymous.get('/api/v1/jobs', bearer(fragment['token'] ?? ''));
    const elsewhere = await api.anonymous.get('/api/v1/jobs', { ...bearer(fragment['token'] ?? ''), 'X-Tenant-ID': 'acme' }); // prettier-ignore
    withClaims({ svc_role: 'viewer', org_id: 'globex' });
    const second = await world.signIn();

    expect(fragment).toMatchObject({ tenant: 'globex', role: 'admin' });
    expect([asAdmin.status, elsewhere.status]).toEqual([200, 403]);
    expect(second.fragment).toMatchObject({ user_id: fragment['user_id'], role: 'viewer' });
    await eventually(async () => expect((await getSession(jar)).status).toBe(401));
  });

  it.each([
    ['a tenant that cannot exist', { org_id: '*' }],
    ['no user name', { preferred_username: '\u0000', email: '', sub: 'x'.repeat(200) }],
  ])('%s is refused', async (_, claims) => {
    withClaims(claims);

    expect((await world.signIn()).fragment['error']).toMatch(/identity_resolution_failed|invalid_id_token/);
  });

  describe('bearer tokens', () => {
    const claims = () => ({ iss: world.provider.issuer, aud: 'svc', sub: 'ci', exp: inSec(60) });
    const send = async (change: object, header = {}) => {
      const token = await world.provider.sign({ ...claims(), ...change }, header);
      return (await api.anonymous.get('/api/v1/jobs', bearer(token))).status;
    };

    it('200: of the issuer, for this audience', async () => {
      expect([await send({}), await send({}, { typ: 'at+jwt' })]).toEqual([200, 200]);
    });

    it.each<[string, object, object]>([
      ['another audience', { aud: 'other' }, {}],
      ['another issuer', { iss: 'https://evil.example' }, {}],
      ['no end', { exp: undefined }, {}],
      ['an end in the past', { exp: inSec(-60) }, {}],
      ['a later begin', { nbf: inSec(300) }, {}],
      ['no subject', { sub: undefined }, {}],
      ['another key', {}, { forged: true }],
      ['another type', {}, { typ: 'logout+jwt' }],
      ['an event', { events: {} }, {}],
      ['another tenant name', { org_id: 'a b' }, {}],
    ])('401: with %s', async (_, change, header) => {
      expect(await send(change, header)).toBe(401);
    });

    it('401: without the entitlement', async () => {
      api.license('community');

      expect(await send({})).toBe(401);
    });

    it('unknown key ids cause one read of the keys in the cooldown', async () => {
      await send({});
      const before = world.provider.requested.filter((path) => path === '/jwks').length;
      await Promise.all(Array.from({ length: 20 }, (_, i) => send({}, { kid: `unknown-${i}` })));
      const after = world.provider.requested.filter((path) => path === '/jwks').length;

      expect(after - before).toBeLessThanOrEqual(1);
    });
  });

  describe(`PUT ${mapping}`, () => {
    it('200: replaces the roles of groups, for the next sign-in and after a restart', async () => {
      const body = {
        oidc_groups_claim: 'groups',
        oidc_group_role_mapping: { ' Platform': 'admin', support: 'operator' },
      };
      const { status, body: view } = await api.as('admin').put(mapping, body);
      const [document] = await api.store.config.documents([['system', 'default']]);

      expect({ status, roles: view['oidc_group_role_mapping'] }).toEqual({ status: 200, roles: { platform: 'admin', support: 'operator' } }); // prettier-ignore
      expect((await world.signIn()).fragment).toMatchObject({ role: 'admin' });
      expect((await world.signIn('bob')).fragment).toMatchObject({ role: 'operator' });
      expect(document?.data).toMatchObject({ SVC_OIDC_GROUPS_CLAIM: 'groups', SVC_OIDC_GROUP_ROLE_MAPPING: '{"platform":"admin","support":"operator"}' }); // prettier-ignore
      expect(await api.ctx.submit.config.at({ tenant: 'acme' })).toBeUndefined();
    });

    it.each([
      ['an empty name', { '  ': 'admin' }],
      ['another role', { a: 'root' }],
      ['the same group twice', { Support: 'admin', 'support ': 'viewer' }],
    ])('400: %s', async (_, roles) => {
      const answer = await api
        .as('admin')
        .put(mapping, { oidc_groups_claim: 'groups', oidc_group_role_mapping: roles });

      expect(answer).toMatchObject({ status: 400, body: { code: 'AUTH_OIDC_CALLBACK_FAILED' } });
    });

    it('a stored mapping that is not valid changes nothing', async () => {
      await api.as('admin').put(mapping, { oidc_group_role_mapping: { platform: 'operator' } });
      await world.signIn();
      await api.as('admin').put('/api/v1/config', { scope: 'system', data: { SVC_OIDC_GROUP_ROLE_MAPPING: '{"platform":"root"}' } }); // prettier-ignore

      expect((await world.signIn()).fragment).toMatchObject({ role: 'operator' });
    });
  });

  describe('sign-out', () => {
    const logoutClaims = (over: object = {}) => ({
      ...{ iss: world.provider.issuer, aud: 'svc', sub: 'alice', jti: `${Math.random()}` },
      ...{ iat: inSec(0), exp: inSec(120), events: { 'http://schemas.openid.net/event/backchannel-logout': {} } },
      ...over,
    });
    const send = async (claims: object, header: object = { typ: 'logout+jwt' }) => {
      const token = await world.provider.sign({ ...claims }, header);
      return browse(api.url, backchannel, new Map(), { logout_token: token });
    };

    it('204: a logout token ends the sessions of the user, and is accepted once', async () => {
      const [jar, other]: [Jar, Jar] = [new Map(), new Map()];
      await world.signIn('alice', jar);
      await world.signIn('bob', other);
      const claims = logoutClaims();

      const { status } = await send(claims);
      const again = await send(claims);

      expect([status, again.status]).toEqual([204, 400]);
      await eventually(async () => expect((await getSession(jar)).status).toBe(401));
      expect((await getSession(other)).status).toBe(200);
    });

    it.each<[string, object, object]>([
      ['a nonce', { nonce: 'n' }, {}],
      ['no event', { events: {} }, {}],
      ['no subject', { sub: undefined }, {}],
      ['no id', { jti: undefined }, {}],
      ['another audience', { aud: 'other' }, {}],
      ['another issuer', { iss: 'https://evil.example' }, {}],
      ['an end in the past', { exp: inSec(-60) }, {}],
      ['another key', {}, { forged: true }],
    ])('400: with %s', async (_, over, header) => {
      const jar: Jar = new Map();
      await world.signIn('alice', jar);

      expect(await send(logoutClaims(over), header)).toMatchObject({ status: 400, body: { code: 'AUTH_OIDC_LOGOUT_FAILED' } }); // prettier-ignore
      expect((await getSession(jar)).status).toBe(200);
    });

    it('302: to the end-session endpoint of the provider, with a page of this origin', async () => {
      const { location } = await world.browse('/api/v1/auth/sso/oidc/logout?redirect=//evil.example', new Map());
      const url = new URL(location ?? '');

      expect(url.origin + url.pathname).toBe(`${world.provider.issuer}/session/end`);
      expect(url.searchParams.get('post_logout_redirect_uri')).toBe('http://gateway.test/login');
    });
  });

  it('sign-ins are in the audit chain, without tokens', async () => {
    const { fragment } = await world.signIn();
    const { body } = await api.as('admin').get('/api/v1/audit/events?limit=50');
    const actions = (body['items'] as { action: string }[]).map(({ action }) => action);

    expect(actions).toEqual(expect.arrayContaining(['auth.sign_in', 'user.provisioned']));
    expect(JSON.stringify(body)).not.toContain(fragment['token']);
  });
});
