import { eventually } from '@svc/testing';
import { useApi } from '../../api.testing';
import { statusAndCode } from '../../caller.testing';

const path = '/api/v1/tenants';
const api = useApi();
const as = (who: 'admin' | 'other' | 'everywhere' = 'admin') => api.as(who);
const change = (tenant: string, act: string, body?: object) => as().post(`${path}/${tenant}/${act}`, body);
const suspend = (tenant = 'globex') => change(tenant, 'suspend', { reason: 'unpaid' });
const create = (id: string) => as().post(path, { id, display_name: `The ${id}` });
const acts = async (tenant: string) => {
  const { body } = await api.as('everywhere').get(`/api/v1/audit/events?event_type=tenant.changed&tenant=${tenant}`);
  return (body['items'] as { action: string }[]).map(({ action }) => action);
};
const refused = { status: 403, code: 'tenant_suspended' };

describe('tenants', () => {
  it('201: a created tenant is listed with those that were only used, by name and page', async () => {
    await api.given.job({ tenant: 'globex' });

    expect(await create('initech')).toMatchObject({
      status: 201,
      body: { id: 'initech', status: 'active', display_name: 'The initech', created_by: 'ann' },
    });
    const first = await as().get(`${path}?limit=1`);
    const names = async (cursor: unknown) =>
      ((await as().get(`${path}?cursor=${String(cursor)}`)).body['items'] as { id: string }[]).map(({ id }) => id);

    expect(first.body['items']).toEqual([expect.objectContaining({ id: first.body['next_cursor'] })]);
    expect([first.body['next_cursor'], ...(await names(first.body['next_cursor']))]).toEqual(
      expect.arrayContaining(['globex', 'initech']),
    );
    expect(statusAndCode(await create('initech'))).toEqual({ status: 409, code: 'tenant_exists' });
  });

  it('403: more tenants than the plan allows', async () => {
    api.license('team', { max_tenants: 2 });
    for (const id of ['one', 'two']) expect((await create(id)).status).toBe(201);

    expect(await create('three')).toMatchObject({
      status: 403,
      body: { code: 'tier_limit_exceeded', limit: 'max_tenants', current: 2, allowed: 2 },
    });
  });

  it('403: admins of other tenants; 404: an unknown tenant; 409: the default tenant, and an active one', async () => {
    await create('globex');
    const denied = { status: 403, code: 'tenant_access_denied' };
    expect(statusAndCode(await as('other').get(path))).toEqual(denied);
    expect(statusAndCode(await as('other').post(`${path}/acme/suspend`, { reason: 'r' }))).toEqual(denied);
    expect(statusAndCode(await as('other').del(`${path}/globex`))).toEqual(denied);
    expect((await as('everywhere').get(`${path}/globex`)).status).toBe(200);

    expect(statusAndCode(await suspend('unknown'))).toEqual({ status: 404, code: 'tenant_not_found' });
    expect(statusAndCode(await suspend('acme'))).toEqual({ status: 409, code: 'tenant_protected' });
    expect(statusAndCode(await as().del(`${path}/globex`))).toEqual({ status: 409, code: 'tenant_state_conflict' });
  });
});

describe('a suspended tenant', () => {
  it('403: its keys are refused on this gateway within a second, and valid again after it is resumed', async () => {
    await create('globex');
    expect((await as('other').get('/api/v1/jobs')).status).toBe(200);

    const { body } = await suspend();
    await eventually(async () => expect(statusAndCode(await as('other').get('/api/v1/jobs'))).toEqual(refused));

    expect(body).toMatchObject({ status: 'suspended', reason: 'unpaid' });
    const named = await as('everywhere').get('/api/v1/jobs', { 'X-Tenant-ID': 'globex' });
    expect(statusAndCode(named)).toEqual(refused);
    expect((await as().get('/api/v1/jobs')).status).toBe(200);
    expect((await suspend()).body['status']).toBe('suspended');

    const resumed = await change('globex', 'resume');
    expect(resumed.body).toMatchObject({ status: 'active' });
    expect(resumed.body).not.toHaveProperty('reason');
    await eventually(async () => expect((await as('other').get('/api/v1/jobs')).status).toBe(200));
    // Repetitions that change nothing are no events.
    expect(await acts('globex')).toEqual(['tenant.resumed', 'tenant.suspended', 'tenant.created']);
    expect(await acts('acme')).toEqual(['tenant.resumed', 'tenant.suspended', 'tenant.created']);
  });

  it('200: its running jobs are cancelled and the others are kept; those of other tenants continue', async () => {
    await create('globex');
    const [running, held] = [
      await api.given.job({ tenant: 'globex', state: 'RUNNING' }),
      await api.given.job({ tenant: 'globex', state: 'APPROVAL_REQUIRED' }),
    ];
    const others = await api.given.job({ state: 'RUNNING' });

    await suspend();

    const state = async (id: string) => (await api.store.jobs.load(id))?.state;
    expect([await state(running), await state(held), await state(others)]).toEqual([
      'CANCELLED',
      'APPROVAL_REQUIRED',
      'RUNNING',
    ]);
    expect(await api.store.tenants.changed(10)).toEqual([]);
  });
});
