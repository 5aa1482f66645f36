import { useStore } from './store.testing';

describe('the load of Redis', () => {
  const use = useStore();
  const read = (tenants: string[], sized = false) => use.store.load.read({ tenants, cursor: '0', sized });

  it('counts open jobs by tenant, the tenants, and the used memory', async () => {
    for (const id of ['a', 'b', 'c']) await use.accept(id);
    await use.accept('d', { tenant: 'globex' });
    await use.store.jobs.move('*', 'b', 'cancel');

    const { tenants, met, memory, cursor } = await read(['acme', 'globex', 'unused']);

    expect(tenants).toEqual([
      { tenant: 'acme', jobs: 2, bytes: 0 },
      { tenant: 'globex', jobs: 1, bytes: 0 },
      { tenant: 'unused', jobs: 0, bytes: 0 },
    ]);
    expect([...met].sort()).toEqual(['acme', 'globex']);
    expect(cursor).toBe('0');
    expect(memory.usedBytes).toBeGreaterThan(100_000);
    expect(memory.maxBytes).toBe(0);
  });

  it('estimates the bytes of a tenant’s jobs from a sample', async () => {
    for (let i = 0; i < 10; i++) await use.accept(`j${i}`);
    const size = (await use.redis.strlen('ctx:j0')) + (await use.redis.hstrlen('{s0}:job:j0', 'request'));

    const { tenants } = await read(['acme'], true);

    expect(tenants).toEqual([{ tenant: 'acme', jobs: 10, bytes: size * 10 }]);
  });

  it('covers many tenants in bounded batches', async () => {
    const names = Array.from({ length: 600 }, (_, i) => `tenant-${i}`);
    await use.redis.sadd('{s0}:tenants', ...names);
    const met = new Set<string>();
    let cursor = '0';
    let peak = 0;

    do {
      const report = await use.store.load.read({ tenants: [], cursor, sized: false });
      for (const name of report.met) met.add(name);
      peak = Math.max(peak, report.met.length);
      cursor = report.cursor;
    } while (cursor !== '0');

    expect(met.size).toBe(600);
    expect(peak).toBeLessThan(200);
  });
});
