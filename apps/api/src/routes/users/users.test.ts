import { openPasswords } from '@svc/identity';
import { bootstrapAdmin } from '@svc/users';
import { useApi } from '../../api.testing';
import { statusAndCode } from '../../caller.testing';
import { goodPassword, otherPassword, people, withUsers } from './people.testing';

describe('/api/v1/users', () => {
  const api = useApi(withUsers);
  const { login, create, signIn, as } = people(api);
  const post = (body: object) => api.as('admin').post('/api/v1/users', body);
  const list = async () =>
    ((await api.as('admin').get('/api/v1/users')).body['items'] as { username: string }[]).map(
      ({ username }) => username,
    );

  it('201: the role is user, and the response has no password', async () => {
    const { status, body } = await post({ username: 'Zoe', password: goodPassword, display_name: 'Zoe Z' });

    expect(status).toBe(201);
    expect(body).toMatchObject({ username: 'Zoe', display_name: 'Zoe Z', tenant: 'acme', roles: ['user'], source: 'user' });
    expect(JSON.stringify(body)).not.toMatch(/argon2|password/);
    expect(await list()).toEqual(['Zoe']);
  }); // prettier-ignore

  it('409: a name or address that is taken, in any case; free in another tenant', async () => {
    await create({ username: 'ann', email: 'ann@acme.test' });

    const taken = [
      await post({ username: 'ANN', password: goodPassword }),
      await post({ username: 'bea', password: goodPassword, email: 'ANN@acme.test' }),
      // It would decide whose account the address means.
      await post({ username: 'ann@acme.test', password: goodPassword }),
    ];
    expect(taken.map(statusAndCode)).toEqual(taken.map(() => ({ status: 409, code: 'AUTH_USER_CONFLICT' })));
    const elsewhere = await api.as('other').post('/api/v1/users', { username: 'ann', password: goodPassword });
    expect(elsewhere.status).toBe(201);
    expect(await list()).toEqual(['ann']);
  });

  it.each([
    ['AUTH_PASSWORD_INVALID', { password: 'short' }],
    ['AUTH_PASSWORD_INVALID', { password: 'Password1234!' }],
    ['AUTH_REQUEST_INVALID', { role: 'captain' }],
    ['AUTH_REQUEST_INVALID', { username: 'a b' }],
    ['AUTH_REQUEST_INVALID', { email: 'no address' }],
  ])('400: %s for %j', async (code, fields) => {
    const answer = await post({ username: 'ann', password: goodPassword, ...fields });

    expect(statusAndCode(answer)).toEqual({ status: 400, code });
  });

  it('403: another tenant', async () => {
    const answer = await post({ username: 'ann', password: goodPassword, tenant: 'globex' });

    expect(statusAndCode(answer)).toEqual({ status: 403, code: 'tenant_access_denied' });
  });

  it('200: empty values leave fields unchanged, and only the first role counts', async () => {
    const id = await create({ email: 'ann@acme.test', display_name: 'Ann' });
    const put = (body: object) => api.as('admin').put(`/api/v1/users/${id}`, body);

    await put({ email: '', display_name: '', roles: [] });
    const { body } = await put({ roles: ['operator', 'admin'] });

    expect(body).toMatchObject({ email: 'ann@acme.test', display_name: 'Ann', roles: ['operator'] });
  });

  it('concurrent changes of different fields are all kept', async () => {
    const id = await create();
    const put = (body: object) => api.as('admin').put(`/api/v1/users/${id}`, body);

    await Promise.all([put({ email: 'ann@acme.test' }), put({ display_name: 'Ann' }), put({ roles: ['operator'] })]);

    const { body } = await put({});
    expect(body).toMatchObject({ email: 'ann@acme.test', display_name: 'Ann', roles: ['operator'] });
  });

  it('204: a deleted user is not listed, cannot sign in, and its address is free', async () => {
    const id = await create({ email: 'ann@acme.test' });

    expect((await api.as('admin').del(`/api/v1/users/${id}`)).status).toBe(204);

    expect(await list()).toEqual([]);
    expect((await login({ username: 'ann', password: goodPassword })).status).toBe(401);
    await create({ username: 'bea', email: 'ann@acme.test' });
    const again = await api.as('admin').post(`/api/v1/users/${id}/password`, { password: otherPassword });
    expect(statusAndCode(again)).toEqual({ status: 404, code: 'AUTH_USER_NOT_FOUND' });
  });

  it('400: users cannot delete themselves; 409: the last administrator stays one', async () => {
    const id = await create({ username: 'root', role: 'admin' });
    const own = as(await signIn('root'));

    const answers = [
      await api.anonymous.del(`/api/v1/users/${id}`, own),
      await api.as('admin').del(`/api/v1/users/${id}`),
      await api.as('admin').put(`/api/v1/users/${id}`, { roles: ['viewer'] }),
    ];

    expect(answers.map(statusAndCode)).toEqual([
      { status: 400, code: 'AUTH_REQUEST_INVALID' },
      { status: 409, code: 'AUTH_LAST_ADMIN' },
      { status: 409, code: 'AUTH_LAST_ADMIN' },
    ]);
  });

  it('403: a caller can neither give a role that permits more than its own, nor change a user who has one', async () => {
    api.license('enterprise');
    const root = await create({ username: 'root', role: 'admin' });
    const permissions = ['users.read', 'users.write'];
    expect((await api.as('admin').put('/api/v1/auth/roles/keeper', { permissions })).status).toBe(200);
    const keeper = { 'X-Principal-Role': 'keeper' };
    const make = (role: string) =>
      api.as('admin').post('/api/v1/users', { username: role, password: goodPassword, role }, keeper);

    const answers = [
      await make('admin'),
      await make('viewer'),
      await api.as('admin').post(`/api/v1/users/${root}/password`, { password: otherPassword }, keeper),
      await api.as('admin').del(`/api/v1/users/${root}`, keeper),
    ];

    expect(answers.map(statusAndCode)).toEqual([
      ...Array<object>(2).fill({ status: 403, code: 'grant_exceeds_caller' }),
      ...Array<object>(2).fill({ status: 403, code: 'access_denied' }),
    ]);
    expect((await make('keeper')).status).toBe(201);
  });

  it('403: the password of a user who becomes an administrator at the same time is not replaced', async () => {
    api.license('enterprise');
    const permissions = ['users.read', 'users.write'];
    expect((await api.as('admin').put('/api/v1/auth/roles/keeper', { permissions })).status).toBe(200);
    const id = await create({ username: 'rising', role: 'keeper' });
    const { users } = api.store;
    const act = { event_type: 'identity.change', action: 'a', severity: 'INFO' } as const;
    // The promotion comes between the check and the write.
    const write = jest.spyOn(users, 'write').mockImplementationOnce(async (change) => {
      const before = await users.get(id);
      if (before) await users.write({ user: { ...before.user, role: 'admin' }, expected: before.revision, act });
      return users.write(change);
    });

    const headers = { 'X-Principal-Role': 'keeper' };
    const answer = await api.as('admin').post(`/api/v1/users/${id}/password`, { password: otherPassword }, headers);
    write.mockRestore();

    expect(statusAndCode(answer)).toEqual({ status: 403, code: 'access_denied' });
    expect((await login({ username: 'rising', password: goodPassword })).status).toBe(200);
  });

  it('of two administrators who delete each other one stays', async () => {
    const ids = [await create({ username: 'one', role: 'admin' }), await create({ username: 'two', role: 'admin' })];

    const answers = await Promise.all(ids.map((id) => api.as('admin').del(`/api/v1/users/${id}`)));

    expect(answers.map(({ status }) => status).sort()).toEqual([204, 409]);
  });

  it('gateways that start at the same time create one administrator', async () => {
    const { store, clock, random } = api.ctx.users;
    const deps = { store, clock, random, passwords: openPasswords(), onWeak: () => undefined };
    const admin = { tenant: 'acme', username: 'admin', password: goodPassword, email: 'admin@acme.test' };

    const created = await Promise.all([bootstrapAdmin(deps, admin), bootstrapAdmin(deps, admin)]);

    expect(created.sort()).toEqual([false, true]);
    expect(await bootstrapAdmin(deps, { ...admin, password: otherPassword })).toBe(false);
    expect((await login({ username: 'admin@acme.test', password: goodPassword })).body['user']).toMatchObject({
      roles: ['admin'],
    });
  });
});
