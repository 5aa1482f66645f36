import { eventually } from '@svc/testing';
import { useApi } from '../api.testing';
import { statusAndCode } from '../caller.testing';

describe('probes', () => {
  const api = useApi();
  const probe = async (path: string) => {
    const { status, body } = await api.anonymous.get(path);
    return { status, body };
  };

  it('200: healthy, without credentials', async () => {
    const healthy = { status: 200, body: { status: 'healthy', nats: 'connected', redis: 'ok' } };

    expect(await probe('/health')).toEqual(healthy);
    expect(await probe('/api/v1/health')).toEqual(healthy);
    expect(await probe('/healthz')).toEqual({ status: 200, body: { status: 'ok', checks: { process: 'ok' } } });
    expect(await probe('/readyz')).toEqual({
      status: 200,
      body: { status: 'ok', checks: { redis: 'ok', nats: 'ok' } },
    });
    expect(await probe('/livez')).toEqual({ status: 200, body: { status: 'ok', checks: { startup: 'complete' } } });
  });

  it('200: details for admins only under /api/v1; invalid credentials count as none', async () => {
    const detailed = await api.as('admin').get('/api/v1/health');
    expect(detailed.body).toMatchObject({
      status: 'healthy',
      details: { redis: { ok: true, took_ms: expect.any(Number) }, nats: { ok: true } },
    });
    const plain = { status: 'healthy', nats: 'connected', redis: 'ok' };
    expect((await api.as('viewer').get('/api/v1/health')).body).toEqual(plain);
    expect((await api.anonymous.get('/api/v1/health', { 'X-API-Key': 'wrong' })).body).toEqual(plain);
    expect((await api.as('admin').get('/health')).body).toEqual(plain);
  });

  it('200: probes are not rate limited', async () => {
    const answers = await Promise.all(Array.from({ length: 100 }, () => probe('/healthz')));

    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
  });

  it('503: without a store the service is alive but not ready, and reports the dependency without its address', async () => {
    await api.servers.redis.kill();

    const [ready, health, alive, live] = await Promise.all(['/readyz', '/health', '/healthz', '/livez'].map(probe));

    expect(ready).toMatchObject({ status: 503, body: { status: 'degraded', checks: { nats: 'ok' } } });
    expect(health).toEqual({
      status: 503,
      body: { status: 'unhealthy', nats: 'connected', redis: 'unavailable', error: 'no answer from redis' },
    });
    expect([alive?.status, live?.status]).toEqual([200, 200]);
    expect(JSON.stringify([ready, health])).not.toMatch(/127\.0\.0\.1|ECONN|:\d{4,5}\b/);

    await api.servers.redis.start();
    await eventually(async () => expect((await probe('/readyz')).status).toBe(200));
  });

  it('503: without a bus', async () => {
    await api.servers.nats.kill();

    await eventually(async () =>
      expect(await probe('/health')).toMatchObject({ status: 503, body: { nats: 'disconnected', redis: 'ok' } }),
    );

    await api.servers.nats.start();
    await eventually(async () => expect((await probe('/readyz')).status).toBe(200));
  });
});

describe('GET /api/v1/status', () => {
  const api = useApi();
  const status = (who: 'admin' | 'viewer' | 'other') => api.as(who).get('/api/v1/status');
  const forAdmins = ['instance_id', 'rate_limiter', 'circuit_breakers', 'input_fail_open_total', 'ha_env', 'replicas'];

  it('200: counts the tenant’s own jobs; operators also see the installation', async () => {
    for (const state of ['PENDING', 'APPROVAL_REQUIRED', 'RUNNING', 'SUCCEEDED', 'CANCELLED', 'DENIED'] as const) {
      await api.given.job({ state });
    }
    await api.given.job({ tenant: 'globex' });
    const workers = { captured_at: '2026-01-01T00:00:00Z', writer_id: 'scheduler-1', pools: {}, workers: [] };
    await api.store.workers.writeSnapshot(workers);
    const instance = {
      id: 'g1',
      service: 'gateway',
      version: '0.0.0',
      commit: 'c',
      started_at: '2026-01-01T00:00:00Z',
    };
    await api.store.workers.keepInstance(instance);

    const [admin, viewer] = [await status('admin'), await status('viewer')];

    const pipeline = { pending: 2, dispatched: 0, running: 1, succeeded: 1, failed: 1, denied: 1 };
    expect(viewer.body).toMatchObject({
      pipeline,
      nats_status: 'CONNECTED',
      redis: { ok: true, status: 'ok' },
      license: { mode: 'community', status: 'fallback', plan: 'Community' },
      active_ws_clients: 0,
      workers: { count: 0 },
    });
    for (const field of [...forAdmins, 'snapshot_meta']) {
      expect(admin.body).toHaveProperty(field);
      expect(viewer.body).not.toHaveProperty(field);
    }
    expect(admin.body).toMatchObject({
      pipeline,
      nats: { url: expect.stringMatching(/127/) },
      snapshot_meta: { writer_id: 'scheduler-1' },
      rate_limiter: { mode: 'memory' },
      circuit_breakers: { input: { state: 'CLOSED', fail_threshold: 3 }, output: { state: 'CLOSED' } },
      ha_env: { redis_pool_size: 1, redis_min_idle_conns: 1, audit_transport: expect.any(String) },
      replicas: { gateway: [{ ...instance, ttl_remaining_ms: expect.any(Number) }] },
    });
    expect(viewer.body['nats']).not.toHaveProperty('url');
  });

  it('200: an admin of a tenant sees no addresses, hosts or findings of the installation', async () => {
    const workers = { captured_at: '2026-01-01T00:00:00Z', writer_id: 'scheduler-1', pools: {}, workers: [] };
    await api.store.workers.writeSnapshot(workers);

    const [tenant, everywhere] = [await status('other'), await api.as('everywhere').get('/api/v1/status')];

    for (const field of ['instance_id', 'ha_env', 'snapshot_meta', 'replicas']) {
      expect(tenant.body).not.toHaveProperty(field);
      expect(everywhere.body).toHaveProperty(field);
    }
    expect(tenant.body['nats']).not.toHaveProperty('url');
    expect(tenant.body['redis']).not.toHaveProperty('findings');
    expect(tenant.body['policy']).toEqual({ ok: true });
    expect(JSON.stringify(tenant.body)).not.toMatch(/127\.0\.0\.1|scheduler-1/);
  });

  it('200: operators see which rules are in effect, and whether other machines can reach development rules', async () => {
    const { body } = await status('admin');

    expect(body['environment']).toEqual({ rules: 'development', findings: [] });
    for (const who of ['viewer', 'other'] as const) {
      expect((await status(who)).body).not.toHaveProperty('environment');
    }
  });

  it('200: without a store the status says so, and only to operators why', async () => {
    const clock = jest.spyOn(api.ctx.status.clock, 'nowMs').mockReturnValue(Date.now() + 30_000);
    await api.servers.redis.kill();

    const [operator, viewer] = [await status('admin'), await status('viewer')];

    expect(operator.body).toMatchObject({ redis: { ok: false, status: 'unavailable', error: expect.any(String) } });
    expect(viewer).toMatchObject({ status: 200, body: { redis: { ok: false, status: 'unavailable' } } });
    expect(viewer.body['redis']).not.toHaveProperty('error');
    expect(viewer.body['pipeline']).toMatchObject({ pending: 0 });
    clock.mockRestore();
  });

  it('200: responses are cached separately by tenant and for admins', async () => {
    let nowMs = Date.now() + 60_000;
    const clock = jest.spyOn(api.ctx.status.clock, 'nowMs').mockImplementation(() => nowMs);
    const cache = async (who: 'admin' | 'viewer' | 'other') => (await status(who)).headers['x-cache'];

    expect([await cache('admin'), await cache('admin')]).toEqual(['MISS', 'HIT']);
    expect([await cache('viewer'), await cache('other'), await cache('viewer')]).toEqual(['MISS', 'MISS', 'HIT']);
    nowMs += 2_001;
    expect(await cache('admin')).toBe('MISS');

    clock.mockRestore();
  });
});

describe('GET /api/v1/status of a gateway that listens on all addresses under development rules', () => {
  const api = useApi({ env: { GATEWAY_HTTP_ADDR: ':8081' } });

  it('200: operators see the finding', async () => {
    expect((await api.as('admin').get('/api/v1/status')).body['environment']).toEqual({
      rules: 'development',
      findings: [
        {
          finding: 'development_exposed',
          what: 'development rules are in effect on addresses that other machines can reach: GATEWAY_HTTP_ADDR=:8081',
          fix: 'Set SVC_ENV=production, or listen on 127.0.0.1.',
        },
      ],
    });
  });
});

describe('limits and lost stores', () => {
  const api = useApi({ env: { API_RATE_LIMIT_RPS: '5', API_RATE_LIMIT_BURST: '5', REDIS_RATE_LIMIT: 'true' } });

  it('429: a tenant over its limit gets a retry time, and others are not affected', async () => {
    const answers = await Promise.all(Array.from({ length: 12 }, () => api.as('viewer').get('/api/v1/jobs')));
    const refused = answers.filter(({ status }) => status === 429);

    expect(refused.length).toBeGreaterThan(0);
    for (const { body, headers } of refused) {
      expect(body).toMatchObject({ code: 'rate_limited', status: 429 });
      expect(Number(headers['retry-after'])).toBeGreaterThanOrEqual(1);
      expect(headers).toMatchObject({ 'x-ratelimit-limit': '5', 'x-ratelimit-remaining': '0' });
    }
    const other = await api.as('other').get('/api/v1/jobs');
    expect(other).toMatchObject({ status: 200, headers: { 'x-ratelimit-limit': '5' } });
    expect(Number(other.headers['x-ratelimit-reset'])).toBeGreaterThan(Date.now() / 1_000 - 5);
  });

  it('429: rejects with a retry time while the store of the limit is unavailable', async () => {
    await api.servers.redis.kill();

    const answer = await api.as('viewer').get('/api/v1/jobs');

    expect(statusAndCode(answer)).toEqual({ status: 429, code: 'rate_limited' });
    expect(answer.headers).toHaveProperty('retry-after');
  });
});

describe('an unavailable store', () => {
  const api = useApi({ env: { REDIS_READ_TIMEOUT: '500ms' } });

  it('503: on every route, with a retry time, and never as a defect', async () => {
    const id = await api.given.job({ state: 'APPROVAL_REQUIRED' });
    await api.servers.redis.kill();
    const admin = api.as('admin');

    const answers = await Promise.all([
      admin.post('/api/v1/jobs', { prompt: 'x' }, { 'Idempotency-Key': 'k' }),
      admin.get('/api/v1/jobs'),
      admin.get(`/api/v1/jobs/${id}`),
      admin.post(`/api/v1/jobs/${id}/cancel`),
      admin.post(`/api/v1/approvals/${id}/approve`),
      admin.get('/api/v1/approvals'),
      admin.get('/api/v1/dlq/page'),
      admin.del(`/api/v1/dlq/${id}`),
      admin.post('/api/v1/artifacts', { content: 'x' }),
      admin.get(`/api/v1/memory?key=ctx:${id}`),
      admin.get('/api/v1/workers'),
      admin.get('/api/v1/traces/t'),
    ]);

    for (const { status, body, headers } of answers) {
      expect({ status, code: body['code'] }).toEqual({ status: 503, code: 'store_unavailable' });
      expect(Number(headers['retry-after'])).toBeGreaterThanOrEqual(1);
      expect(JSON.stringify(body)).not.toMatch(/127\.0\.0\.1|ECONN/);
    }
  });

  it('200: events are delayed and not lost while the bus is unavailable', async () => {
    const id = await api.given.job({ state: 'RUNNING' });
    await api.servers.nats.kill();

    const { status, body } = await api.as('admin').post(`/api/v1/jobs/${id}/cancel`);

    expect({ status, body }).toEqual({ status: 200, body: { id, state: 'CANCELLED' } });
    expect((await api.store.index.unpublished(Date.now() * 2_000, 10)).map((job) => job.id)).toEqual([id]);
  });
});
