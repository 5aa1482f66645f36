import { keys } from '@svc/store';
import { eventually, plainRequest } from '@svc/testing';
import { useApi } from '../api.testing';
import { statusAndCode } from '../caller.testing';
import { signLicense } from '../identities.testing';

const path = '/api/v1/license';
const dayMs = 86_400_000;
const inDays = (days: number) => new Date(Date.now() + days * dayMs).toISOString();

describe('the license routes', () => {
  const api = useApi();
  const usage = async () => (await api.as('admin').get(`${path}/usage`)).body['usage'] as Record<string, unknown>;

  it('200: Community without a license, with every entitlement', async () => {
    api.license('community');

    const { status, body } = await api.as('admin').get(path);

    expect(status).toBe(200);
    expect(body).toMatchObject({ plan: 'community', rights: null, license: { mode: 'community', plan: 'Community' } });
    expect(body['entitlements']).toMatchObject({
      ...{ max_workers: 3, max_concurrent_jobs: 3, requests_per_second: 500, audit_retention_days: 7 },
      ...{ max_tenants: 0, approval_mode: 'single', telemetry_mode: '', sso: false, features: {}, limits: {} },
    });
  });

  it('200: the plan with its grants and rights; numbers that are 0 and disabled features are not listed', async () => {
    api.license(
      'team',
      { scim: true, max_workers: 40, features: { 'Dark-Mode': true }, limits: { seats: 7 } },
      { expires_at: inDays(90), rights: { resale: true }, deployment_type: 'self_hosted' },
    );

    const { body } = await api.as('admin').get(path);

    expect(body).toMatchObject({ plan: 'team', expiry_status: 'active', rights: { resale: true } });
    expect(body['license']).toMatchObject({
      ...{ mode: 'team', plan: 'Team', status: 'active', org_id: 'acme', license_id: 'l-1' },
      deployment_type: 'self_hosted',
      features: ['audit', 'break_glass_admin', 'dark_mode', 'scim'],
      limits: {
        max_workers: 40,
        max_concurrent_jobs: 25,
        requests_per_second: 2_000,
        audit_retention_days: 90,
        seats: 7,
      },
    });
  });

  it.each([
    [10, {}, 'warning', 'enterprise'],
    [-1, {}, 'grace', 'enterprise'],
    [-1, { grace_days: -1 }, 'degraded', 'community'],
    [-15, {}, 'degraded', 'community'],
  ])('200: expired since or in %s days with %j: %s, and the service keeps serving', async (days, more, state, plan) => {
    api.license('enterprise', {}, { expires_at: inDays(days), ...more });

    const { status, body } = await api.as('admin').get(path);

    expect(status).toBe(200);
    expect(body).toMatchObject({ plan, expiry_status: state, license: { status: state, org_id: 'acme' } });
    expect((await api.as('admin').get('/api/v1/jobs')).status).toBe(200);
  });

  it('200: usage has what counts against each limit, and the limits in effect', async () => {
    api.license('team', {
      max_schema_count: 5,
      max_policy_bundles: 4,
      max_body_bytes: 9_000,
      max_artifact_bytes: 7_000,
    });
    await api.as('admin').post('/api/v1/workers/credentials', { worker_id: 'w1' });
    await api.store.workers.addLiveWorker('w2', Date.now(), 25);
    await api.store.workers.addLiveWorker('w3', Date.now(), 25);
    await api.as('admin').put('/api/v1/policy/bundles/secops~one', { content: 'rules: []' });
    await api.as('admin').post('/api/v1/schemas', { id: 'Crate', schema: { type: 'object' } });
    await api.given.job({ state: 'RUNNING', workerId: 'w2' });
    // Counts against the limit, although it has no job yet.
    await api.as('admin').post('/api/v1/tenants', { id: 'globex' });

    expect(await usage()).toEqual({
      workers: { current: 2, allowed: 25, registered: 1, connected: 2 },
      concurrent_jobs: { current: 1, allowed: 25 },
      active_workflows: { current: 0, allowed: -1 },
      workflow_steps: { allowed: -1 },
      schemas: { current: 1, allowed: 5 },
      policy_bundles: { current: 1, allowed: 4 },
      tenants: { current: 2, allowed: -1 },
      requests_per_second: { allowed: 2_000 },
      prompt_chars: { allowed: 50_000 },
      body_bytes: { allowed: 9_000 },
      artifact_bytes: { allowed: 7_000 },
      approval_mode: { allowed: 'multi' },
    });
  });

  it('200: reload reports an invalid license as fallback; 403 for admins of other tenants', async () => {
    api.license('enterprise');
    const valid = await api.as('admin').post(`${path}/reload`, { ignored: true });
    api.writeLicense('broken');
    const broken = await api.as('admin').post(`${path}/reload`);

    expect(valid).toMatchObject({ status: 200, body: { status: 'reloaded', plan: 'enterprise' } });
    expect(broken).toMatchObject({ status: 200, body: { plan: 'community', license: { status: 'fallback' } } });
    expect(statusAndCode(await api.as('other').post(`${path}/reload`))).toEqual({
      status: 403,
      code: 'tenant_access_denied',
    });
    const { body: events } = await api.as('admin').get('/api/v1/audit/events?event_type=license.reloaded');
    expect(events['items']).toHaveLength(2);
  });

  it('a reload that another process answered is in effect here too', async () => {
    api.license('community');
    api.writeLicense(signLicense('enterprise'));

    await api.store.redis.incr(keys.licenseVersion());

    await eventually(async () => expect((await api.as('admin').get(path)).body['plan']).toBe('enterprise'));
  });
});

describe('limits of the license', () => {
  const api = useApi();

  it('403: a body over max_body_bytes, with the limit of the plan; artifacts have their own', async () => {
    api.license('team', { max_body_bytes: 300, max_artifact_bytes: 400 });
    const put = (bytes: number) => api.as('admin').post('/api/v1/artifacts', { content: 'x'.repeat(bytes) });

    const job = await api
      .as('admin')
      .post('/api/v1/jobs', { ...plainRequest, topic: 'job.default', prompt: 'x'.repeat(300) });
    const [small, large] = [await put(350), await put(401)];

    expect(job).toMatchObject({
      status: 403,
      body: { code: 'tier_limit_exceeded', limit: 'max_body_bytes', allowed: 300 },
    });
    expect(small.status).toBe(200);
    expect(large).toMatchObject({
      status: 403,
      body: { code: 'tier_limit_exceeded', limit: 'max_artifact_bytes', current: 401, allowed: 400, upgrade_url: '' },
    });
  });

  it('403: live workers count like credentials; a worker that is live needs no further place', async () => {
    api.license('community');
    const create = (worker_id: string) => api.as('admin').post('/api/v1/workers/credentials', { worker_id });
    for (const id of ['w1', 'w2', 'w3']) await api.store.workers.addLiveWorker(id, Date.now(), 3);

    expect(await create('w4')).toMatchObject({ status: 403, body: { limit: 'max_workers', current: 3, allowed: 3 } });
    expect((await create('w1')).status).toBe(201);
  });
});
