import { eventually } from '@svc/testing';
import { useApi } from '../../api.testing';
import { statusAndCode } from '../../caller.testing';

const api = useApi();
const post = (act: string, body: object, as = api.as('admin')) => as.post(`/api/v1/locks/${act}`, body);
const acquire = (body: object, as = api.as('admin')) =>
  post('acquire', { resource: 'crane', owner: 'ann', ...body }, as);
const get = (resource = 'crane', as = api.as('viewer')) =>
  as.get(`/api/v1/locks?resource=${encodeURIComponent(resource)}`);
const token = ({ body }: { body: Record<string, unknown> }) => Number(body['fencing_token']);

describe('POST /api/v1/locks/acquire', () => {
  it('200: the lock with its owner, expiry and fencing token, which readers see', async () => {
    const fromMs = Date.now();

    const answer = await acquire({ ttl_ms: 60_000 });

    expect(answer).toMatchObject({
      status: 200,
      body: { resource: 'crane', mode: 'exclusive', owners: { ann: 1 }, updated_at: expect.any(String) },
    });
    expect(Date.parse(String(answer.body['expires_at'])) - fromMs).toBeGreaterThan(59_000);
    expect(await get()).toMatchObject({ status: 200, body: answer.body });
  });

  it('200: the same owner once more; 409: another owner', async () => {
    const first = await acquire({});
    const again = await acquire({});

    expect(again.body).toMatchObject({ owners: { ann: 2 } });
    expect(token(again)).toBe(token(first));
    expect(statusAndCode(await acquire({ owner: 'bob' }))).toEqual({ status: 409, code: 'lock_unavailable' });
    expect(statusAndCode(await acquire({ owner: 'bob', mode: 'shared' }))).toEqual({
      status: 409,
      code: 'lock_unavailable',
    });
  });

  it('200: the time is 30 s by default, also for 0', async () => {
    for (const body of [{}, { ttl_ms: 0 }]) {
      const { body: lock } = await acquire(body);
      const ttlMs = Date.parse(String(lock['expires_at'])) - Date.parse(String(lock['updated_at']));
      expect(ttlMs).toBe(30_000);
    }
  });

  it('200: an expired lock is free, and its next token is greater', async () => {
    const first = await acquire({ ttl_ms: 1 });

    const second = await eventually(async () => {
      const answer = await acquire({ owner: 'bob' });
      expect(answer.status).toBe(200);
      return answer;
    });

    expect(token(second)).toBeGreaterThan(token(first));
  });

  it.each([
    ['no resource', { resource: '' }, 'resource_required'],
    ['a blank resource', { resource: '  ' }, 'resource_required'],
    ['a resource too long', { resource: 'x'.repeat(513) }, 'resource_required'],
    ['no owner', { owner: '' }, 'invalid_body'],
    ['an owner too long', { owner: 'x'.repeat(257) }, 'invalid_body'],
    ['an unknown mode', { mode: 'write' }, 'invalid_body'],
    ['a time above an hour', { ttl_ms: 3_600_001 }, 'invalid_body'],
    ['a negative time', { ttl_ms: -1 }, 'invalid_body'],
    ['an unknown field', { wait: true }, 'invalid_json'],
  ])('400: %s', async (_, body, code) => {
    expect(statusAndCode(await acquire(body))).toEqual({ status: 400, code });
  });
});

describe('POST /api/v1/locks/release and /renew', () => {
  it('200: each release lowers the count; the last frees the lock', async () => {
    await acquire({});
    await acquire({});

    expect((await post('release', { resource: 'crane', owner: 'ann' })).body).toMatchObject({
      released: true,
      lock: { owners: { ann: 1 } },
    });
    expect((await post('release', { resource: 'crane', owner: 'ann' })).body).toEqual({ released: true, lock: null });
    expect(statusAndCode(await get())).toEqual({ status: 404, code: 'lock_not_found' });
  });

  it('200: a renewal restarts the time', async () => {
    const before = await acquire({ ttl_ms: 10_000 });

    const after = await post('renew', { resource: 'crane', owner: 'ann', ttl_ms: 100_000 });

    expect(after.status).toBe(200);
    expect(Date.parse(String(after.body['expires_at']))).toBeGreaterThan(Date.parse(String(before.body['expires_at'])));
    expect(token(after)).toBe(token(before));
  });

  it('409 and 404: an owner that does not hold it', async () => {
    await acquire({});

    expect(statusAndCode(await post('release', { resource: 'crane', owner: 'bob' }))).toEqual({
      status: 409,
      code: 'lock_not_held',
    });
    expect(statusAndCode(await post('renew', { resource: 'crane', owner: 'bob' }))).toEqual({
      status: 404,
      code: 'lock_not_held',
    });
    expect(statusAndCode(await post('renew', { resource: 'other', owner: 'ann' }))).toEqual({
      status: 404,
      code: 'lock_not_held',
    });
  });
});

describe('locks', () => {
  it('are private to the tenant', async () => {
    await acquire({});

    expect(statusAndCode(await get('crane', api.as('otherViewer')))).toEqual({ status: 404, code: 'lock_not_found' });
    expect(await acquire({ owner: 'gus' }, api.as('other'))).toMatchObject({
      status: 200,
      body: { owners: { gus: 1 } },
    });
    expect((await get()).body).toMatchObject({ owners: { ann: 1 } });
  });

  it('403: are written by admins only, whether or not roles are licensed', async () => {
    for (const plan of ['community', 'enterprise'] as const) {
      api.license(plan);
      for (const who of ['operator', 'viewer', 'user'] as const)
        expect((await acquire({}, api.as(who))).status).toBe(403);
      expect((await acquire({})).status).toBe(200);
    }
    expect((await get('crane', api.as('user'))).status).toBe(403);
  });

  it('400: a read without a resource', async () => {
    expect(statusAndCode(await api.as('admin').get('/api/v1/locks'))).toEqual({
      status: 400,
      code: 'resource_required',
    });
  });
});

describe('GET /api/v1/admin/locks', () => {
  it('200: locks and leases; 403: to admins of other tenants and to other roles', async () => {
    await acquire({});
    await api.store.lease('svc:reconciler:default', 'scheduler-1', 60_000).hold();

    const { status, body } = await api.as('admin').get('/api/v1/admin/locks');

    expect(status).toBe(200);
    expect(body['locks']).toEqual(
      expect.arrayContaining([
        { key: 'svc:lock:acme:crane', holder: 'ann', ttl_remaining_ms: expect.any(Number), type: 'resource' },
        { key: 'svc:reconciler:default', holder: 'scheduler-1', ttl_remaining_ms: expect.any(Number), type: 'reconciler' },
      ]),
    );
    expect(statusAndCode(await api.as('other').get('/api/v1/admin/locks'))).toEqual({ status: 403, code: 'tenant_access_denied' });
    expect((await api.as('operator').get('/api/v1/admin/locks')).status).toBe(403);
  });
}); // prettier-ignore
