import { useApi } from '../../api.testing';
import { statusAndCode } from '../../caller.testing';
import { identities, keySession } from '../../identities.testing';
import { goodPassword, otherPassword, people, withUsers } from './people.testing';

interface Listed {
  id: string;
  method: string;
  address: string;
  current: boolean;
}

describe('sessions of users', () => {
  const api = useApi(withUsers);
  const { login, create, signIn, check, as, from } = people(api);
  const list = async (token: string) =>
    (await api.anonymous.get('/api/v1/auth/sessions', as(token))).body['items'] as Listed[];

  const endings: [string, (id: string, token: string) => Promise<{ status: number }>][] = [
    ['logout', (_id, token) => api.anonymous.post('/api/v1/auth/logout', undefined, as(token))],
    [
      'a changed password',
      (_id, token) => {
        const body = { current_password: goodPassword, new_password: otherPassword };
        return api.anonymous.post('/api/v1/auth/password', body, as(token));
      },
    ],
    ['a password set by an administrator', (id) => api.as('admin').post(`/api/v1/users/${id}/password`, { password: otherPassword })],
    ['deletion', (id) => api.as('admin').del(`/api/v1/users/${id}`)],
    ['the loss of a permission', (id) => api.as('admin').put(`/api/v1/users/${id}`, { roles: ['user'] })],
  ]; // prettier-ignore
  it.each(endings)('401: the token is refused at once after %s', async (_name, end) => {
    const id = await create({ role: 'operator' });
    const token = await signIn();
    expect(await check(token)).toBe(200);

    expect((await end(id, token)).status).toBeLessThan(300);

    expect(await check(token)).toBe(401);
  });

  it('a role that permits more applies to open sessions at once', async () => {
    const id = await create({ role: 'viewer' });
    const token = await signIn();
    expect((await api.anonymous.get('/api/v1/users', as(token))).status).toBe(403);

    await api.as('admin').put(`/api/v1/users/${id}`, { roles: ['admin'] });

    expect((await api.anonymous.get('/api/v1/users', as(token))).status).toBe(200);
  });

  it('of concurrent changes of a password one succeeds, and only its password signs in', async () => {
    await create();
    const token = await signIn();
    const next = Array.from({ length: 4 }, (_, i) => `Compass-and-chart-${i}`);

    const answers = await Promise.all(
      next.map((new_password) =>
        api.anonymous.post('/api/v1/auth/password', { current_password: goodPassword, new_password }, as(token)),
      ),
    );

    const won = next.filter((_, i) => answers[i]?.status === 204);
    expect(won).toHaveLength(1);
    const signed = await Promise.all(next.map(async (password) => (await login({ username: 'ann', password })).status));
    expect(next.filter((_, i) => signed[i] === 200)).toEqual(won);
  });

  it('a sign-in that was verified before the password changed opens no session', async () => {
    const id = await create();
    const { passwords } = api.ctx.users;
    const verify = passwords.verify.bind(passwords);
    const spy = jest.spyOn(passwords, 'verify').mockImplementationOnce(async (phc, password) => {
      const isRight = await verify(phc, password);
      await api.as('admin').post(`/api/v1/users/${id}/password`, { password: otherPassword });
      return isRight;
    });

    const { status } = await login({ username: 'ann', password: goodPassword });

    expect(status).toBe(401);
    spy.mockRestore();
  });

  it('lists the own sessions, and ends one or all others', async () => {
    await create();
    await create({ username: 'bea' });
    const [first, second, third] = [await signIn(), await signIn(), await signIn()];
    const foreign = await signIn('bea');
    const { body } = await login({ username: 'ann', password: goodPassword }, from('198.51.100.7'));
    const own = String(body['token']);

    const listed = await list(own);
    expect(listed).toHaveLength(4);
    expect(listed.filter(({ current }) => current)).toEqual([
      expect.objectContaining({ method: 'password', address: '198.51.100.7' }),
    ]);
    for (const token of [first, second, third, own]) expect(JSON.stringify(listed)).not.toContain(token);
    const [target] = (await list(first)).filter(({ current }) => current);
    const end = (token: string, id = '') => api.anonymous.del(`/api/v1/auth/sessions/${id}`, as(token));

    expect(statusAndCode(await end(foreign, target?.id))).toEqual({ status: 404, code: 'AUTH_SESSION_NOT_FOUND' });
    expect((await end(own, target?.id)).status).toBe(204);
    expect(await Promise.all([first, second, third].map(check))).toEqual([401, 200, 200]);
    expect((await api.anonymous.del('/api/v1/auth/sessions', as(own))).body).toEqual({ ended: 2 });
    expect(await Promise.all([second, third, own, foreign].map(check))).toEqual([401, 401, 200, 200]);
  });

  it('an API key lists the sessions that were opened with it', async () => {
    const { token } = await api.sessions.create(keySession(identities.admin.key, 'acme'));
    const withKey = await api.as('admin').get('/api/v1/auth/sessions');

    expect(withKey.body['items']).toEqual([expect.objectContaining({ method: 'api_key', current: false })]);
    expect(await list(token)).toEqual([expect.objectContaining({ current: true })]);
  });

  it('204: logout of a caller without a session', async () => {
    const { status, headers } = await api.as('admin').post('/api/v1/auth/logout');

    expect(status).toBe(204);
    expect(headers['set-cookie']).toMatch(/^svc_session=; Path=\/; Expires=Thu, 01 Jan 1970/);
  });

  it('400, 401, 404: a password that cannot be changed', async () => {
    await create();
    const token = await signIn();
    const change = (body: object, headers = as(token)) => api.anonymous.post('/api/v1/auth/password', body, headers);
    const fields = { current_password: goodPassword, new_password: otherPassword };

    const answers = [
      await change({ ...fields, current_password: '' }),
      await change({ ...fields, new_password: 'Password1234!' }),
      await change({ ...fields, current_password: 'wrong' }),
      await api.as('admin').post('/api/v1/auth/password', fields),
    ];

    expect(answers.map(statusAndCode)).toEqual([
      { status: 400, code: 'AUTH_REQUEST_INVALID' },
      { status: 400, code: 'AUTH_PASSWORD_INVALID' },
      { status: 401, code: 'AUTH_INVALID_CREDENTIALS' },
      { status: 404, code: 'AUTH_USER_NOT_FOUND' },
    ]);
  });

  it('401: guesses at the password with a stolen session are limited like those without', async () => {
    await create();
    const token = await signIn();
    const change = (current_password: string) =>
      api.anonymous.post('/api/v1/auth/password', { current_password, new_password: otherPassword }, as(token));
    for (let i = 0; i < 5; i++) await change(`guess-${i}`);

    expect((await change(goodPassword)).status).toBe(401);
  });
});
