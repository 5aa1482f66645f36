import { eraseTenants } from '@svc/tenants';
import type { TenantChange } from '@svc/store';
import { useApi } from '../../api.testing';
import { caller, statusAndCode } from '../../caller.testing';
import { identities } from '../../identities.testing';
import { plantBelongings } from '../../tenant-belongings.testing';
import { walked } from '../../tenant-requests.testing';
import { findLeft, readAll } from './erasure.testing';

jest.setTimeout(60_000);

const owner = { ...identities.everywhere, key: 'key-of-the-house-0000000001', tenant: 'house' };
const api = useApi({
  ...walked,
  env: { ...walked.env, SVC_API_KEYS: JSON.stringify([...Object.values(identities), owner]) },
});
const house = () => caller(api.url, { 'X-API-Key': owner.key });
const path = '/api/v1/tenants/acme';

describe('the deletion of a tenant', () => {
  it('removes everything that belongs to it but its audit chain, and nothing of other tenants', async () => {
    const planted = await plantBelongings(api);
    const theirs = await api.given.job({ tenant: 'globex', state: 'SUCCEEDED', result: { reply: 'kept' } });
    const artifact = await api.as('other').post('/api/v1/artifacts', { content: 'kept' });
    await house().post(`${path}/suspend`, { reason: 'closed' });

    const held = await house().del(path);
    await house().del(`/api/v1/audit/legal-hold/${planted.legalHold}`);
    const begun = await house().del(path);
    const others = [...(await readAll(api))].filter(([key]) => key.includes('globex') || key.includes(theirs));
    for (let step = 0; step < 20 && (await eraseTenants({ ...api.ctx.tenantErasure, runEndMs: 0 })) === 0; step++);

    expect(statusAndCode(held)).toEqual({ status: 409, code: 'legal_hold_active' });
    expect(begun).toMatchObject({ status: 200, body: { status: 'deleting' } });
    const after = await readAll(api);
    expect(findLeft(after, planted)).toEqual([]);
    for (const [key, content] of others)
      if (!/index|audit/.test(key)) expect([key, after.get(key)]).toEqual([key, content]);
    expect((await api.as('other').get(`/api/v1/jobs/${theirs}`)).status).toBe(200);
    expect(
      (await api.as('other').get(`/api/v1/artifacts/${encodeURIComponent(String(artifact.body['artifact_ptr']))}`))
        .status,
    ).toBe(200);
    expect((await house().get(path)).body).toMatchObject({ status: 'deleted', erasure: { phase: 'done' } });
    const { body } = await house().get('/api/v1/audit/events?event_type=tenant.changed&tenant=acme');
    expect((body['items'] as { action: string }[])[0]?.action).toBe('tenant.deleted');
  });

  it('is not delayed by tenants that wait, such as those under a legal hold', async () => {
    const { tenants } = api.store;
    const act = { event_type: 'tenant.changed', action: 'a', severity: 'HIGH' } as const;
    const change = (tenant: string, change: TenantChange) =>
      tenants.change(tenant, { change, maxTenants: 0, fields: {}, actorTenant: 'house', act });
    const waiting = Array.from({ length: 12 }, (_, i) => `waiting-${i}`);
    for (const one of [...waiting, 'last']) for (const step of ['create', 'suspend'] as const) await change(one, step);
    await change('last', 'delete');

    for (let step = 0; step < 10 && (await eraseTenants({ ...api.ctx.tenantErasure, runEndMs: 0 })) === 0; step++);

    expect((await tenants.get('last'))?.status).toBe('deleted');
  });
});
