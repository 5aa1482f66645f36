import { readOutbox } from '@svc/audit-chain';
import { eventually } from '@svc/testing';
import { useApi } from '../../api.testing';
import { statusAndCode } from '../../caller.testing';
import { identities } from '../../identities.testing';
import { goodPassword, otherPassword, people, withUsers } from './people.testing';

const refused = { status: 401, code: 'AUTH_INVALID_CREDENTIALS' };

describe('POST /api/v1/auth/login', () => {
  const api = useApi(withUsers);
  const { login, create, signIn, check, as, from } = people(api);

  it('200: by username or e-mail address in any case, with a session that acts as the user', async () => {
    const id = await create({ email: 'Ann@acme.test' });

    for (const username of ['ann', 'ANN', 'ann@ACME.test']) {
      const { status, body, headers } = await login({ username, password: goodPassword });
      expect(status).toBe(200);
      expect(body['user']).toMatchObject({ id, username: 'Ann', tenant: 'acme', roles: ['viewer'], source: 'user' });
      expect(headers['set-cookie']).toMatch(
        /^svc_session=session-[\w-]{43}; Path=\/; Expires=[^;]+ GMT; HttpOnly; SameSite=Lax$/,
      );
      const session = await api.anonymous.get('/api/v1/auth/session', as(String(body['token'])));
      expect(session.body).toMatchObject({ user: { id }, expires_at: body['expires_at'] });
      expect(session.body['token']).not.toBe(body['token']);
    }
  });

  it('the session has the permissions of the role, in the tenant of the user only', async () => {
    await create();
    const token = await signIn();

    const statuses = await Promise.all([
      api.anonymous.get('/api/v1/jobs', as(token)),
      api.anonymous.get('/api/v1/users', as(token)),
      api.anonymous.get('/api/v1/jobs', { ...as(token), 'X-Tenant-ID': 'globex' }),
    ]);

    expect(statuses.map(({ status }) => status)).toEqual([200, 403, 403]);
  });

  it('200: by API key, which the response does not repeat', async () => {
    const { key } = identities.admin;
    const { status, body, headers } = await login({ username: 'anyone', password: key });

    expect(status).toBe(200);
    expect(body).toMatchObject({
      token: `${key.slice(0, 8)}********${key.slice(-4)}`,
      user: { id: 'ann', username: 'ann', roles: ['admin'], source: 'api_key' },
    });
    const cookie = String(headers['set-cookie']).split(';', 1)[0] ?? '';
    expect(cookie).not.toContain(key);
    const session = await api.anonymous.get('/api/v1/auth/session', { Cookie: cookie });
    expect(session.body).toMatchObject({ user: { source: 'api_key' }, expires_at: body['expires_at'] });
  });

  it('401: one answer to every failure', async () => {
    const disabled = await create({ username: 'gone' });
    await api.as('admin').del(`/api/v1/users/${disabled}`);
    await create();

    const answers = [
      await login({ username: 'ann', password: 'wrong' }),
      await login({ username: 'stranger', password: goodPassword }),
      await login({ username: 'gone', password: goodPassword }),
      await login({ username: 'ann', password: '' }),
      await login({ username: '', password: goodPassword }),
      await login({ username: 'ann', password: goodPassword, tenant: 'globex' }),
      await login({ username: 'ann', password: `session-${'A'.repeat(43)}` }),
    ];

    expect(answers.map(statusAndCode)).toEqual(answers.map(() => refused));
    expect(answers.map(({ body }) => body)).toEqual(answers.map(() => answers[0]?.body));
    expect(answers.map(({ headers }) => headers['set-cookie'])).toEqual(answers.map(() => undefined));
  });

  it('401: a user of a suspended tenant', async () => {
    const gil = { username: 'gil', password: goodPassword, tenant: 'initech' };
    await api.as('everywhere').post('/api/v1/users', gil);
    await api.as('admin').post('/api/v1/tenants', { id: 'initech' });
    expect((await login(gil)).status).toBe(200);

    await api.as('admin').post('/api/v1/tenants/initech/suspend', { reason: 'unpaid' });

    await eventually(async () => expect((await login(gil)).status).toBe(401));
  });

  it('400: a malformed body; 403: a tenant that the key does not cover', async () => {
    const malformed = await login({ username: 'ann' });
    const elsewhere = await login({ username: '', password: identities.admin.key, tenant: 'globex' });

    expect(statusAndCode(malformed)).toEqual({ status: 400, code: 'AUTH_REQUEST_INVALID' });
    expect(statusAndCode(elsewhere)).toEqual({ status: 403, code: 'tenant_access_denied' });
  });

  it('an unknown account costs a password hash like a known one', async () => {
    await create();
    const verify = jest.spyOn(api.ctx.users.passwords, 'verify');

    await login({ username: 'ann', password: 'wrong' });
    await login({ username: 'stranger', password: 'wrong' });
    for (let i = 0; i < 6; i++) await login({ username: 'stranger', password: 'wrong' });

    expect(verify).toHaveBeenCalledTimes(8);
    verify.mockRestore();
  });

  it('403: a page of another origin cannot sign its visitor in', async () => {
    await create();
    const body = { username: 'ann', password: goodPassword };
    const foreign = [{ Origin: 'https://evil.example' }, { Origin: 'null' }, { 'Sec-Fetch-Site': 'cross-site' }];

    for (const headers of foreign) {
      const answer = await login(body, headers as Record<string, string>);
      expect(statusAndCode(answer)).toEqual({ status: 403, code: 'origin_not_allowed' });
    }
    expect((await login(body, { 'Sec-Fetch-Site': 'same-origin' })).status).toBe(200);
  });

  it('a session that was planted in the browser ends, and the new one has another id', async () => {
    await create();
    await create({ username: 'mallory' });
    const planted = await signIn('mallory');

    const { body } = await login(
      { username: 'ann', password: goodPassword },
      { Cookie: `svc_session=${planted}`, 'Sec-Fetch-Site': 'same-origin' },
    );

    expect(body['token']).not.toBe(planted);
    expect(await check(planted)).toBe(401);
    expect(await check(String(body['token']))).toBe(200);
  });

  it('after five failures an address is refused the account, also with the right password, and others are not', async () => {
    await create();
    const body = { username: 'ann', password: goodPassword };
    for (let i = 0; i < 5; i++) await login({ ...body, password: 'wrong' }, from('203.0.113.1'));

    expect(statusAndCode(await login(body, from('203.0.113.1')))).toEqual(refused);
    expect((await login(body, from('203.0.113.2'))).status).toBe(200);
    // A failure of the same address on another account is none on this one.
    await create({ username: 'bea' });
    expect((await login({ ...body, username: 'bea' }, from('203.0.113.1'))).status).toBe(200);
  });

  it('attempts at the same time are not all checked before the first is counted', async () => {
    await create();
    const verify = jest.spyOn(api.ctx.users.passwords, 'verify');
    const wrong = { username: 'ann', password: 'wrong' };

    await Promise.all(Array.from({ length: 12 }, () => login(wrong, from('203.0.113.1'))));

    expect(verify.mock.calls.filter(([phc]) => phc !== undefined)).toHaveLength(5);
    verify.mockRestore();
  });

  it('a stranger with many addresses slows an account down and does not lock it', async () => {
    await create();
    const body = { username: 'ann', password: goodPassword };
    expect((await login(body, from('198.51.100.1'))).status).toBe(200);
    for (let i = 0; i < 50; i++) await login({ ...body, password: `wrong-${i}` }, from(`203.0.113.${i}`));

    expect((await login(body, from('198.51.100.2'))).status).toBe(200);
    // The address from which the user has signed in before does not even wait.
    expect((await login(body, from('198.51.100.1'))).status).toBe(200);
  });

  it('429: too many failures of one address', async () => {
    const statuses: number[] = [];
    for (let i = 0; i < 21; i++) {
      statuses.push((await login({ username: `user-${i}`, password: 'wrong' }, from('203.0.113.1'))).status);
    }

    expect(statuses.slice(0, 20)).toEqual(Array(20).fill(401));
    expect(statuses[20]).toBe(429);
    expect((await login({ username: 'user-x', password: 'wrong' }, from('203.0.113.9'))).status).toBe(401);
  });

  it('503: Redis is unreachable, and attempts are limited by this process', async () => {
    await create();
    await api.servers.redis.kill();

    const attempt = () => login({ username: 'ann', password: goodPassword }, from('203.0.113.1'));
    const statuses = (await Promise.all(Array.from({ length: 22 }, attempt))).map(({ status }) => status);

    expect([503, 429].map((status) => statuses.filter((one) => one === status).length)).toEqual([20, 2]);
  });

  it('a sign-in and a changed password are events, without the password', async () => {
    await create();
    const token = await signIn();
    await api.anonymous.post(
      '/api/v1/auth/password',
      { current_password: goodPassword, new_password: otherPassword },
      as(token),
    );

    const lines = (await api.store.audit.outbox(50)).flatMap(({ lines: text }) => readOutbox(text));
    const events = await api.as('admin').get('/api/v1/audit/events?limit=50');
    const text = JSON.stringify([lines, events.body]);
    expect(text).toContain('auth.sign_in');
    expect(text).toContain('user.password_changed');
    for (const secret of [goodPassword, otherPassword, token, '$argon2id']) expect(text).not.toContain(secret);
  });
});

describe('sign-in without users', () => {
  const api = useApi();

  it('takes API keys only, and the routes of users answer 400', async () => {
    const { login } = people(api);

    expect((await login({ username: 'ann', password: goodPassword })).status).toBe(401);
    expect((await login({ username: '', password: identities.admin.key })).status).toBe(200);
    expect(statusAndCode(await api.as('admin').get('/api/v1/users'))).toEqual({
      status: 400,
      code: 'AUTH_REQUEST_INVALID',
    });
    expect((await api.anonymous.get('/api/v1/auth/config')).body).toMatchObject({
      password_enabled: true,
      user_auth_enabled: false,
      saml_enterprise: true,
      oidc_enabled: false,
      session_ttl: '24h',
      default_tenant: 'acme',
    });
  });
});

describe('sign-in where only tokens are accepted', () => {
  const api = useApi({ env: { SVC_JWT_REQUIRED: 'true', SVC_JWT_HMAC_SECRET: 'k7Qm2-Zx9Rf4Wb8Tn6Vc3Yd5Hj1Lp0Sg' } });

  it('401: an API key opens no session, since every request would refuse it; clients offer no password', async () => {
    const { login } = people(api);

    expect((await login({ username: '', password: identities.admin.key })).status).toBe(401);
    expect((await api.anonymous.get('/api/v1/auth/config')).body).toMatchObject({ password_enabled: false });
  });
});
