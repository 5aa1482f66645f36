import type { TenantChange } from '@svc/store';
import { eventually } from '@svc/testing';
import { useScheduler } from './use-scheduler.testing';

const use = useScheduler();
const act = { event_type: 'tenant.changed', action: 'a', severity: 'HIGH' } as const;
const change = (tenant: string, change: TenantChange) =>
  use.store.tenants.change(tenant, { change, maxTenants: 0, fields: {}, actorTenant: 'acme', act });

describe('the jobs of a suspended tenant', () => {
  it('wait, also new ones, while those of others run; they are dispatched after it is resumed', async () => {
    await use.start();
    const before = await use.submit({}, 'globex');
    await use.until(before, 'PENDING', { waiting_reason: 'no_workers' });
    expect(await change('globex', 'suspend')).toEqual({ kind: 'changed', status: 'suspended' });

    const worker = await use.rawWorker({ id: 'w1', max: 5 });
    const [after, other] = [await use.submit({}, 'globex'), await use.submit({}, 'acme')];
    await worker.dispatched(other);
    await use.until(after, 'PENDING', { waiting_reason: 'tenant_suspended' });
    await use.until(before, 'PENDING', { waiting_reason: 'tenant_suspended' });

    await change('globex', 'resume');
    for (const id of [before, after]) await worker.dispatched(id);
  });

  it('that run are cancelled by the loop, when the process that suspended the tenant died', async () => {
    await use.start();
    const worker = await use.rawWorker({ id: 'w1', max: 5 });
    const id = await use.submit({}, 'globex');
    await worker.dispatched(id);

    await change('globex', 'suspend');

    await use.until(id, 'CANCELLED');
    await eventually(async () => expect(await use.store.tenants.changed(10)).toEqual([]));
  });
});
