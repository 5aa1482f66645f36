import type { TenantChange } from './index';
import { useStore } from './store.testing';

const act = { event_type: 'tenant.changed', action: 'a', severity: 'HIGH' } as const;

describe('the deletion of a tenant', () => {
  const use = useStore();
  const change = (tenant: string, ...changes: TenantChange[]) =>
    changes.reduce<Promise<unknown>>(async (before, one) => {
      await before;
      return use.store.tenants.change(tenant, { change: one, maxTenants: 0, fields: {}, actorTenant: 'acme', act });
    }, Promise.resolve());
  const advance = (tenant: string, executed: string | undefined, phase: string) =>
    use.store.tenants.advanceErasure(tenant, executed, { phase, removed: 2 });
  const read = async (tenant: string) => (await use.store.tenants.get(tenant))?.erasure;

  it('advances once by each step, also when two processes execute it', async () => {
    await change('t1', 'create', 'suspend', 'delete');

    expect([await advance('t1', undefined, 'parts'), await advance('t1', undefined, 'parts')]).toEqual([true, false]);
    expect(await advance('t1', 'parts', 'done')).toBe(true);
    expect(await read('t1')).toEqual({ phase: 'done', removed: 4 });
  });

  it('ends only after its last step', async () => {
    await change('t2', 'create', 'suspend', 'delete');

    expect(await change('t2', 'finish')).toEqual({ kind: 'refused', status: 'deleting' });
    await advance('t2', undefined, 'done');
    expect(await change('t2', 'finish')).toEqual({ kind: 'changed', status: 'deleted' });
  });

  it('stores no progress of a process that was slow, once the tenant exists again', async () => {
    await change('t3', 'create', 'suspend', 'delete');
    await advance('t3', undefined, 'done');
    await change('t3', 'finish', 'create');

    expect(await advance('t3', undefined, 'done')).toBe(false);
    expect(await read('t3')).toBeUndefined();
  });
});
