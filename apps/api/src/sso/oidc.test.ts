import { decodeJwt } from 'jose';
import { publicOrigin, useOidc, type Jar } from './oidc.testing';

jest.setTimeout(60_000);

const login = '/api/v1/auth/sso/oidc/login';
const bearer = (token: string) => ({ Authorization: `Bearer ${token}` });

describe('sign-in with OpenID Connect', () => {
  const world = useOidc({ SVC_OIDC_GROUP_ROLE_MAPPING: '{"platform":"operator"}' });
  const { api } = world;
  /** Replaces claims of id tokens, signed by the provider. */
  const withClaims = (change: Record<string, unknown>, header = {}) => {
    world.provider.tamper = async (path, body) => {
      if (path !== '/token') return body;
      const answer = JSON.parse(body) as { id_token: string };
      const claims = { ...decodeJwt(answer.id_token), ...change };
      return JSON.stringify({ ...answer, id_token: await world.provider.sign(claims, header) });
    };
  };

  it('302: with a session, a user of the mapped role, and the result in the fragment of the default page', async () => {
    const jar: Jar = new Map();

    const { status, location, fragment, setCookies } = await world.signIn('alice', jar);

    expect({ status, page: location?.split('#')[0] }).toEqual({ status: 302, page: `${publicOrigin}/login` });
    expect(fragment).toMatchObject({
      ...{ username: 'alice', email: 'alice@example.com', display_name: 'Alice Adams' },
      ...{ role: 'operator', tenant: 'acme', source: 'oidc', token: jar.get('svc_session') },
    });
    expect(setCookies.join('\n')).toMatch(/^svc_session=session-[\w-]{43}; Path=\/; Expires=[^;]+; HttpOnly; SameSite=Lax$/m);
    const session = await api.anonymous.get('/api/v1/auth/session', bearer(fragment['token'] ?? ''));
    expect(session).toMatchObject({ status: 200, body: { user: { username: 'alice', roles: ['operator'] } } });
  }); // prettier-ignore

  it('302: the same identity is the same user, under another name too', async () => {
    const first = await world.signIn();
    withClaims({ preferred_username: 'another-name', name: 'Alice B.' });

    const { fragment } = await world.signIn();

    expect(fragment).toMatchObject({ user_id: first.fragment['user_id'], username: 'alice', display_name: 'Alice B.' });
  });

  it('200: JSON when the client asks for no redirect', async () => {
    const jar: Jar = new Map();
    const answer = await world.browse(await world.toCallback(jar, 'bob', ''), jar);

    expect(answer).toMatchObject({ status: 200, body: { token: jar.get('svc_session'), user: { username: 'bob', roles: ['viewer'] } } }); // prettier-ignore
  });

  it('302: to the page that began the sign-in, never to another origin', async () => {
    const pages = [];
    for (const wanted of ['/jobs?tab=2', `${publicOrigin}/runs`, 'https://evil.example/', '//evil.example']) {
      const jar: Jar = new Map();
      const { location } = await world.browse(await world.toCallback(jar, 'alice', wanted), jar);
      pages.push(location?.split('#')[0]);
    }

    expect(pages).toEqual(['/jobs?tab=2', '/runs', '/login', '/login'].map((page) => publicOrigin + page));
  });

  it('401: a state is valid once, in the browser that began the sign-in', async () => {
    const jar: Jar = new Map();
    const callback = await world.toCallback(jar);
    const planted = await world.browse(callback, new Map());
    const own: Jar = new Map();
    const second = await world.toCallback(own);
    const kept: Jar = new Map(own);
    const accepted = await world.browse(second, own);
    const again = await world.browse(second, kept);
    const missing = await world.browse('/api/v1/auth/sso/oidc/callback?code=x', kept);

    expect(planted).toMatchObject({ status: 401, body: { code: 'AUTH_SSO_STATE_INVALID' } });
    expect(accepted.status).toBe(302);
    expect([again.status, missing.status]).toEqual([401, 401]);
  });

  it('302: an error of the provider reaches the page', async () => {
    const jar: Jar = new Map();
    const callback = new URL(await world.toCallback(jar), publicOrigin);
    const query = new URLSearchParams({
      state: callback.searchParams.get('state') ?? '',
      iss: world.provider.issuer,
      error: 'access_denied',
      error_description: 'not <b>today</b>',
    });

    const { fragment } = await world.browse(`${callback.pathname}?${query.toString()}`, jar);

    expect(fragment).toEqual({ error: 'access_denied', error_description: 'not <b>today</b>' });
  });

  describe('a response that was changed on its way', () => {
    it.each<[string, string, (url: URL) => void]>([
      ['another code', 'token_exchange_failed', (url) => url.searchParams.set('code', 'x'.repeat(43))],
      ['another issuer', 'invalid_request', (url) => url.searchParams.set('iss', 'https://evil.example')],
      ['no issuer', 'invalid_request', (url) => url.searchParams.delete('iss')],
      ['no code', 'invalid_request', (url) => url.searchParams.delete('code')],
    ])('%s: %s', async (_, error, change) => {
      const jar: Jar = new Map();
      const url = new URL(await world.toCallback(jar), publicOrigin);
      change(url);

      expect((await world.browse(url.pathname + url.search, jar)).fragment).toMatchObject({ error });
    });

    it('a code of another sign-in is refused: its verifier differs', async () => {
      const [mine, theirs]: Jar[] = [new Map(), new Map()];
      const own = new URL(await world.toCallback(mine ?? new Map()), publicOrigin);
      const other = new URL(await world.toCallback(theirs ?? new Map(), 'bob'), publicOrigin);
      own.searchParams.set('code', other.searchParams.get('code') ?? '');

      const { fragment } = await world.browse(own.pathname + own.search, mine ?? new Map());

      expect(fragment).toMatchObject({ error: 'token_exchange_failed' });
    });
  });

  describe('an id token', () => {
    it('that is signed again with the same claims is accepted', async () => {
      withClaims({});

      expect((await world.signIn()).fragment).toMatchObject({ username: 'alice' });
    });

    it.each<[string, string, Record<string, unknown>, object]>([
      ['another nonce', 'invalid_nonce', { nonce: 'n'.repeat(32) }, {}],
      ['no nonce', 'invalid_nonce', { nonce: undefined }, {}],
      ['another issuer', 'invalid_id_token', { iss: 'https://evil.example' }, {}],
      ['another audience', 'invalid_id_token', { aud: 'another-client' }, {}],
      ['a second audience without azp', 'invalid_id_token', { aud: ['svc', 'another-client'] }, {}],
      ['azp of another client', 'invalid_id_token', { aud: ['svc', 'other'], azp: 'other' }, {}],
      ['an end in the past', 'invalid_id_token', { exp: Math.floor(Date.now() / 1_000) - 60 }, {}],
      ['a key that the provider never had', 'invalid_id_token', {}, { forged: true }],
      ['an unknown key id', 'invalid_id_token', {}, { kid: 'key-2', forged: true }],
    ])('with %s: %s', async (_, error, claims, header) => {
      withClaims(claims, header);

      expect((await world.signIn()).fragment).toMatchObject({ error });
    });

    it.each([
      ['none', (claims: object) => `${encode({ alg: 'none' })}.${encode(claims)}.`],
      ['HS256', (claims: object) => `${encode({ alg: 'HS256', kid: 'key-1' })}.${encode(claims)}.${'A'.repeat(43)}`],
    ])('with the algorithm %s: invalid_id_token', async (_, build) => {
      world.provider.tamper = (path, body) => {
        if (path !== '/token') return body;
        const answer = JSON.parse(body) as { id_token: string };
        return JSON.stringify({ ...answer, id_token: build(decodeJwt(answer.id_token)) });
      };

      expect((await world.signIn()).fragment).toMatchObject({ error: 'invalid_id_token' });
    });

    it('that is missing: missing_id_token', async () => {
      world.provider.tamper = (path, body) =>
        path === '/token' ? JSON.stringify({ ...(JSON.parse(body) as object), id_token: undefined }) : body;

      expect((await world.signIn()).fragment).toMatchObject({ error: 'missing_id_token' });
    });
  });

  it('403, 404: without the entitlement, and without a provider for SAML', async () => {
    expect(await world.browse('/api/v1/auth/sso/saml/login', new Map())).toMatchObject({ status: 404 });
    api.license('team');

    const answer = await world.browse(login, new Map());

    expect(answer).toMatchObject({ status: 403, body: { code: 'tier_limit_exceeded', limit: 'sso' } });
  });

  it('the configuration for clients names the provider, with the secret masked', async () => {
    const { body } = await api.anonymous.get('/api/v1/auth/config');

    expect(body).toMatchObject({
      ...{ oidc_enabled: true, oidc_issuer: world.provider.issuer, oidc_login_url: login, saml_enabled: false },
      oidc_group_role_mapping: { platform: 'operator' },
    });
    expect(JSON.stringify(body)).not.toContain(world.provider.clientSecret);
  });
});

const encode = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');
