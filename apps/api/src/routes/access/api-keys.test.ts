import { limits } from '@svc/contract';
import { keys } from '@svc/store';
import { eventually } from '@svc/testing';
import { useApi } from '../../api.testing';
import { caller, statusAndCode } from '../../caller.testing';
import { keySession, type Who } from '../../identities.testing';

const path = '/api/v1/auth/keys';

interface Created {
  id: string;
  secret: string;
}

describe('managed API keys', () => {
  const api = useApi();
  const create = (body: object, who: Who = 'admin') => api.as(who).post(path, { name: 'ci', ...body });
  const created = async (body: object = {}, who: Who = 'admin'): Promise<Created> => {
    const { body: answer } = await create(body, who);
    return { id: (answer['key'] as { id: string }).id, secret: String(answer['secret']) };
  };
  const using = (secret: string) => caller(api.url, { 'X-API-Key': secret });
  const listed = async (who: Who = 'admin') => (await api.as(who).get(path)).body['items'] as Record<string, unknown>[];

  it('201: the secret is in the response only; the key is listed and works', async () => {
    const { status, body } = await create({ scopes: ['jobs:*'], expiresAt: '2100-01-01T00:00:00Z' });
    const secret = String(body['secret']);
    const key = body['key'] as Record<string, unknown>;

    expect(status).toBe(201);
    expect(secret).toMatch(/^ck_[0-9a-f]{64}$/);
    expect(key).toMatchObject({ name: 'ci', prefix: secret.slice(0, 11), scopes: ['jobs:*'], usageCount: 0 });
    expect(key).toMatchObject({ expiresAt: '2100-01-01T00:00:00.000Z', createdAt: expect.any(String) as string });
    expect(await listed()).toEqual([key]);
    expect((await using(secret).get('/api/v1/jobs')).status).toBe(200);
    const stored = await api.store.redis.hgetall(keys.apiKey(String(key['id'])));
    expect(JSON.stringify([stored, await api.store.redis.hgetall(keys.apiKeyDigests())])).not.toContain(secret.slice(12));
  });

  it('every use is counted, in writes that are shared by many requests', async () => {
    const { secret } = await created({ scopes: ['read'] });

    for (let i = 0; i < 7; i++) await using(secret).get('/api/v1/jobs');
    await using(secret).post('/api/v1/jobs', {});

    const [key] = await eventually(async () => {
      const found = await listed();
      if (found[0]?.['usageCount'] !== 8) throw new Error('not counted yet');
      return found;
    });
    expect(Date.parse(String(key?.['lastUsed']))).toBeLessThanOrEqual(Date.now());
  });

  it('401: a revoked key is refused everywhere at once, with the response of an unknown one', async () => {
    const { id, secret } = await created();
    expect((await using(secret).get('/api/v1/jobs')).status).toBe(200);

    const answer = await api.as('admin').del(`${path}/${id}`);

    expect(answer.status).toBe(204);
    const [revoked, unknown] = [await using(secret).get('/api/v1/jobs'), await using('ck_0').get('/api/v1/jobs')];
    expect(revoked).toMatchObject({ status: 401, body: unknown.body });
    expect(await listed()).toEqual([]);
    expect(statusAndCode(await api.as('admin').del(`${path}/${id}`))).toEqual({ status: 404, code: 'AUTH_KEY_NOT_FOUND' });
  });

  it('401: a key that has expired', async () => {
    const { secret } = await created({ expiresAt: new Date(Date.now() + 1_500).toISOString() });
    expect((await using(secret).get('/api/v1/jobs')).status).toBe(200);

    await eventually(async () => {
      if ((await using(secret).get('/api/v1/jobs')).status !== 401) throw new Error('still valid');
    });
  });

  it('a session of a key ends with it', async () => {
    const { id, secret } = await created({ scopes: ['read'] });
    const { token } = await api.sessions.create(keySession(secret, 'acme'));
    expect((await using(token).get('/api/v1/jobs')).status).toBe(200);

    await api.as('admin').del(`${path}/${id}`);

    expect((await using(token).get('/api/v1/jobs')).status).toBe(401);
  });

  it('404: a key of another tenant can neither be listed nor revoked', async () => {
    const { id, secret } = await created();

    expect(await listed('other')).toEqual([]);
    expect(statusAndCode(await api.as('other').del(`${path}/${id}`))).toEqual({ status: 404, code: 'AUTH_KEY_NOT_FOUND' });
    expect((await using(secret).get('/api/v1/jobs')).status).toBe(200);
    expect((await using(secret).get('/api/v1/jobs', { 'X-Tenant-ID': 'globex' })).status).toBe(403);
  });

  it.each([
    ['an empty name', { name: ' ' }, 'AUTH_KEY_INVALID'],
    ['an unknown scope', { scopes: ['agents:write'] }, 'AUTH_KEY_INVALID'],
    ['a scope twice', { scopes: ['read', 'read'] }, 'AUTH_KEY_INVALID'],
    ['a bad expiry', { expiresAt: 'tomorrow' }, 'AUTH_KEY_INVALID'],
    ['a past expiry', { expiresAt: '2020-01-01T00:00:00Z' }, 'AUTH_KEY_INVALID'],
    ['a day that does not exist', { expiresAt: '2030-02-31T99:00:00Z' }, 'AUTH_KEY_INVALID'],
    ['an unknown field', { tenant: 'globex' }, 'invalid_json'],
  ])('400: %s', async (_, body, code) => {
    expect(statusAndCode(await create(body))).toEqual({ status: 400, code });
    expect(await listed()).toEqual([]);
  });

  it('400: more keys than a tenant may have', async () => {
    const many = Array.from({ length: limits.tenantApiKeys }, (_, i) => [i, `k${i}`]).flat();
    await api.store.redis.zadd(keys.apiKeysOf('acme'), ...many);

    expect(statusAndCode(await create({}))).toEqual({ status: 400, code: 'AUTH_KEY_INVALID' });
    expect((await create({}, 'other')).status).toBe(201);
  });

  it('both changes are in the audit chain, without the secret', async () => {
    const { id, secret } = await created({ scopes: ['read'] });
    await api.as('admin').del(`${path}/${id}`);

    const { body } = await api.as('admin').get('/api/v1/audit/events');

    expect((body['items'] as { event_type: string }[]).filter(({ event_type }) => event_type.startsWith('auth.'))).toMatchObject([
      { event_type: 'auth.api_key_revoked', identity: 'ann', extra: { resource_id: id } },
      { event_type: 'auth.api_key_created', identity: 'ann', extra: { resource_id: id, name: 'ci', scopes: 'read' } },
    ]);
    expect(JSON.stringify(body)).not.toContain(secret.slice(12));
  });

  it('403: a person cannot approve his own job through a key that he made, nor a key what its maker submitted', async () => {
    const { secret } = await created({ scopes: ['admin'] });
    const second = await using(secret).post(path, { name: 'made by a key', scopes: ['admin'] });
    const makers = [api.as('admin'), using(secret), using(String(second.body['secret']))];
    await api.policy('rules: [{ id: hold, match: { topics: ["job.*"] }, decision: require_approval }]');

    for (const maker of makers) {
      const job = String((await maker.post('/api/v1/jobs', { prompt: 'x', topic: 'job.default' })).body['job_id']);
      for (const one of makers) {
        expect(statusAndCode(await one.post(`/api/v1/approvals/${job}/approve`))).toEqual({
          status: 403,
          code: 'self_approval_denied',
        });
      }
      expect((await api.as('boss').post(`/api/v1/approvals/${job}/approve`)).status).toBe(200);
    }
    await api.policy();
  });

  describe('with RBAC, for a role that may create keys', () => {
    beforeEach(async () => {
      api.license('enterprise');
      const grants = ['apiKeys.write', 'jobs.read', 'workflows.read'];
      await api.store.roles.write(1, new Map([['clerk', { description: '', permissions: grants as never, inherits: ['viewer'], created_at: '', updated_at: '' }]]));
      await api.ctx.access.roleBook.sync();
    });

    it.each([
      [['jobs:read'], 201],
      [[], 201],
      [['read'], 201],
      [['jobs:write'], 403],
      [['policy:read'], 201],
      [['policy:*'], 403],
      [['audit:read'], 403],
      [['write'], 403],
      [['admin'], 403],
    ])('a key with the scopes %j: %d', async (scopes, status) => {
      const answer = await create({ scopes }, 'clerk');

      expect([answer.status, status === 403 ? answer.body['code'] : 'grant_exceeds_caller']).toEqual([status, 'grant_exceeds_caller']);
    });
  });
}); // prettier-ignore
