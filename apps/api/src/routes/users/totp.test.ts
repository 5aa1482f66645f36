import { TOTP } from 'otpauth';
import { useApi } from '../../api.testing';
import { statusAndCode } from '../../caller.testing';
import { goodPassword, people, withUsers } from './people.testing';

describe('the second factor', () => {
  // A fixed time, so that no step ends between a code and its use.
  const nowMs = Date.UTC(2026, 0, 1);
  const api = useApi({
    ...withUsers,
    context: (ctx) => ({ ...ctx, users: { ...ctx.users, clock: { nowMs: () => nowMs } } }),
  });
  const { login, create, signIn, as, from, check } = people(api);
  const refused = { status: 401, code: 'AUTH_INVALID_CREDENTIALS' };
  const body = { username: 'ann', password: goodPassword };

  /** A code of a step, counted from now. */
  const code = (secret: string, steps = 0) => new TOTP({ secret }).generate({ timestamp: nowMs + steps * 30_000 });

  const begin = async (token: string) => {
    const { body: begun } = await api.anonymous.post('/api/v1/auth/totp', { password: goodPassword }, as(token));
    return String(begun['secret']);
  };

  /** Adds a second factor. The code that confirms it is of the step before, so that the current one is left. */
  async function enroll() {
    const id = await create();
    const token = await signIn();
    const secret = await begin(token);
    const { body: confirmed } = await api.anonymous.post(
      '/api/v1/auth/totp/confirm',
      { code: code(secret, -1) },
      as(token),
    );
    return { id, token, secret, recovery: confirmed['recovery_codes'] as string[] };
  }

  it('401: is asked for after the right password only, and each code is accepted once', async () => {
    const { secret } = await enroll();
    const totp = code(secret);

    expect(statusAndCode(await login({ ...body, password: 'wrong' }))).toEqual(refused);
    expect(statusAndCode(await login(body))).toEqual({ status: 401, code: 'AUTH_TOTP_REQUIRED' });
    expect(statusAndCode(await login({ ...body, totp: '000000' }))).toEqual(refused);
    const answers = await Promise.all(
      ['198.51.100.1', '198.51.100.2', '198.51.100.3'].map((address) => login({ ...body, totp }, from(address))),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 401, 401]);
  });

  it('each recovery code replaces a code once', async () => {
    const { recovery } = await enroll();
    expect(recovery).toHaveLength(10);

    const use = async () => (await login({ ...body, recovery_code: recovery[0]?.toLowerCase() })).status;
    expect([await use(), await use()]).toEqual([200, 401]);
  });

  it('429: codes cannot be guessed from many addresses by someone who knows the password', async () => {
    await enroll();
    const statuses: number[] = [];
    for (let i = 0; i < 11; i++) {
      statuses.push((await login({ ...body, totp: '000000' }, from(`203.0.113.${i}`))).status);
    }

    expect(statuses.slice(0, 10)).toEqual(Array(10).fill(401));
    expect(statuses[10]).toBe(429);
  });

  it('is in effect only when confirmed, and beginning again replaces the secret', async () => {
    await create();
    const token = await signIn();
    const first = await begin(token);
    expect((await login(body)).status).toBe(200);
    const second = await begin(token);
    const confirm = (entered: string) => api.anonymous.post('/api/v1/auth/totp/confirm', { code: entered }, as(token));

    expect(statusAndCode(await confirm(code(first)))).toEqual(refused);
    expect((await confirm(code(second))).status).toBe(200);
    expect(statusAndCode(await confirm(code(second, 1)))).toEqual({ status: 409, code: 'AUTH_TOTP_CONFLICT' });
  });

  it('is removed with the password or a code, or by an administrator, which ends the sessions', async () => {
    const { token, secret } = await enroll();
    const remove = (fields: object) =>
      api.anonymous.send('DELETE', '/api/v1/auth/totp', JSON.stringify(fields), as(token));

    expect(statusAndCode(await remove({}))).toEqual({ status: 400, code: 'AUTH_REQUEST_INVALID' });
    expect(statusAndCode(await remove({ password: 'wrong' }))).toEqual(refused);
    expect((await remove({ code: code(secret) })).status).toBe(204);
    const plain = await signIn();
    expect(await check(plain)).toBe(200);
    const again = await begin(plain);
    await api.anonymous.post('/api/v1/auth/totp/confirm', { code: code(again) }, as(plain));
    const users = (await api.as('admin').get('/api/v1/users')).body['items'] as { id: string; totp_enabled: boolean }[];
    expect(users[0]?.totp_enabled).toBe(true);

    expect((await api.as('admin').del(`/api/v1/users/${users[0]?.id}/totp`)).status).toBe(204);

    expect(await check(plain)).toBe(401);
    expect((await login(body)).status).toBe(200);
  });

  it('neither the secret nor the password, a code or a token is in the store', async () => {
    const { secret, recovery, token } = await enroll();
    await login(body);
    await login({ ...body, password: 'Wrong-password-that-was-typed-9' });
    await login({ username: 'Password-in-the-wrong-field-9', password: 'x' });

    const names = await api.store.redis.keys('*');
    const values = await Promise.all(names.map(async (name) => (await api.store.redis.dumpBuffer(name))?.toString('latin1')));
    const text = JSON.stringify([names, values]);
    expect(names.length).toBeGreaterThan(5);
    for (const [i, found] of [secret, token, goodPassword, ...recovery, 'Wrong-password', 'Password-in-the'].entries())
      expect([i, text.includes(found)]).toEqual([i, false]);
  }); // prettier-ignore
});
