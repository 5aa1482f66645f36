import { queues } from '@svc/queues.config';
import { openStore, type Store } from '@svc/store';
import { plainRequest as request, useServers } from '@svc/testing';
import { Redis } from 'ioredis';
import { type AdmissionSettings, SnapshotAdmission } from './admission';
import { jobOverheadBytes } from './admit';

const unlimited: AdmissionSettings = {
  jobs: 0,
  bytes: 0,
  tenantJobs: 0,
  tenantBytes: 0,
  memoryPercent: 0,
  memoryLimitBytes: 0,
};
describe('admission by a snapshot of Redis', () => {
  let redis: Redis;
  let store: Store;
  afterAll(async () => void (await redis.quit()));
  const servers = useServers();
  beforeAll(() => {
    redis = new Redis(servers.redisUrl, { disconnectTimeout: 50 });
    store = openStore(redis, queues, { metaSec: 3_600, dataSec: 600 });
  });
  afterEach(() => redis.call('CONFIG', 'SET', 'maxmemory', '0'));

  let made = 0;
  const accept = async (tenant: string, bytes = 100): Promise<string> => {
    const id = `j${(made += 1)}`;
    const fields = { request, submitter: 'ann', job_hash: 'h', deadline_ms: 0 };
    const acceptance = { id, tenant, traceId: id, topic: 'job.default', fields, priority: 10, activeLimit: 0 };
    await store.jobs.accept({ ...acceptance, context: 'x'.repeat(bytes) });
    return id;
  };
  const refusals: string[] = [];
  const gateway = (settings: Partial<AdmissionSettings>) => {
    refusals.length = 0;
    return new SnapshotAdmission(store.load, { ...unlimited, ...settings }, (of) => void refusals.push(of));
  };
  /** Twice, because the first snapshot only discovers the tenants. */
  const look = async (admission: SnapshotAdmission) => {
    await admission.refresh();
    await admission.refresh();
  };
  const backpressure = { errorCode: 'backpressure', headers: { 'Retry-After': expect.stringMatching(/^[1-9]/) } };
  const overloaded = { errorCode: 'overloaded', headers: { 'Retry-After': expect.stringMatching(/^[1-9]/) } };

  it('a tenant at its own limit gets backpressure, and other tenants are admitted', async () => {
    for (let i = 0; i < 3; i++) await accept('acme');
    const admission = gateway({ tenantJobs: 3 });
    await look(admission);

    await expect(admission.job('acme', 10, () => accept('acme'))).rejects.toMatchObject({
      ...backpressure,
      extras: { limit_of: 'jobs', current: 3, limit: 3 },
    });
    await expect(admission.job('globex', 10, () => accept('globex'))).resolves.toMatch(/^j/);
    expect(refusals).toEqual(['tenant_jobs']);
  });

  it('a job that ends frees capacity for the next', async () => {
    const id = await accept('acme');
    const admission = gateway({ tenantJobs: 1 });
    await look(admission);
    await expect(admission.job('acme', 10, () => accept('acme'))).rejects.toMatchObject(backpressure);

    await store.jobs.move('*', id, 'cancel');
    await look(admission);

    await expect(admission.job('acme', 10, () => accept('acme'))).resolves.toMatch(/^j/);
  });

  it('a burst between two snapshots does not exceed the limit', async () => {
    const admission = gateway({ jobs: 7 });
    await look(admission);

    const burst = Array.from({ length: 50 }, (_, i) =>
      admission.job(`tenant-${i % 5}`, 10, () => accept(`tenant-${i % 5}`)),
    );
    const outcomes = await Promise.allSettled(burst);

    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(7);
    await look(admission);
    await expect(admission.job('acme', 10, () => accept('acme'))).rejects.toMatchObject(overloaded);
  });

  it('releases capacity when the write fails, and passes the error on', async () => {
    const admission = gateway({ jobs: 1 });

    await expect(admission.job('acme', 10, () => Promise.reject(new Error('denied')))).rejects.toThrow('denied');
    await expect(admission.job('acme', 10, () => accept('acme'))).resolves.toMatch(/^j/);
    await expect(admission.job('acme', 10, () => accept('acme'))).rejects.toMatchObject(overloaded);
  });

  it('limits bytes per tenant and in total: estimated for Redis, counted for this process', async () => {
    for (let i = 0; i < 10; i++) await accept('acme', 10_000);
    const admission = gateway({ tenantBytes: 120_000, bytes: 150_000 });
    await look(admission);

    await expect(admission.job('acme', 20_000, () => accept('acme'))).rejects.toMatchObject({
      ...backpressure,
      extras: { limit_of: 'bytes', limit: 120_000 },
    });
    await expect(admission.job('globex', 20_000, () => accept('globex', 20_000))).resolves.toMatch(/^j/);
    await expect(admission.job('globex', 40_000, () => accept('globex'))).rejects.toMatchObject(overloaded);
    expect(refusals).toEqual(['tenant_bytes', 'bytes']);
  });

  it('refuses new work before memory runs out, and still stores results of running jobs', async () => {
    const running = await accept('acme');
    const admission = gateway({ memoryPercent: 75 });
    const used = async () => Number(/used_memory:(\d+)/.exec(await redis.info('memory'))?.[1]);
    await redis.call('CONFIG', 'SET', 'maxmemory', String((await used()) + 4_000_000));
    await look(admission);

    // A burst without a snapshot in between: 100 times 64 KiB exceed the remaining memory.
    const burst = Array.from({ length: 100 }, () => admission.job('acme', 65_536, () => accept('acme', 65_536)));
    const outcomes = await Promise.allSettled(burst);

    const refused = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason as unknown] : []));
    expect(refused.length).toBeGreaterThan(50);
    for (const reason of refused) expect(reason).toMatchObject(overloaded);
    await expect(admission.data('acme', 3_000_000, async () => 'stored')).rejects.toMatchObject(overloaded);
    await redis.set(`res:${running}`, 'y'.repeat(100_000)); // as a worker does
    expect((await store.jobs.move('*', running, 'cancel')).kind).toBe('moved');
  });

  it('uses the memory limit of the environment if Redis has none, and does not check memory without either', async () => {
    const limited = gateway({ memoryPercent: 75, memoryLimitBytes: 1_000_000 });
    const free = gateway({ memoryPercent: 75 });
    await Promise.all([look(limited), look(free)]);

    await expect(limited.job('acme', 10, () => accept('acme'))).rejects.toMatchObject(overloaded);
    await expect(free.job('acme', 10, () => accept('acme'))).resolves.toMatch(/^j/);
  });

  it('tenants beyond the size of one snapshot keep their reservations', async () => {
    const admission = gateway({ tenantJobs: 1, jobs: 301 });
    const names = Array.from({ length: 300 }, (_, i) => `tenant-${i}`);
    await Promise.all(names.map((name) => admission.job(name, 10, () => accept(name))));

    await look(admission);

    const again = await Promise.allSettled(names.map((name) => admission.job(name, 10, () => accept(name))));
    expect(again.filter(({ status }) => status === 'fulfilled')).toEqual([]);
    await admission.job('one-more', 10, () => accept('one-more'));
    await expect(admission.job('and-another', 10, () => accept('and-another'))).rejects.toMatchObject(overloaded);
  });

  it('recovers its counts after the store was emptied', async () => {
    await accept('acme');
    const admission = gateway({ jobs: 1 });
    await look(admission);
    await expect(admission.job('acme', 10, () => accept('acme'))).rejects.toMatchObject(overloaded);

    await redis.flushall();
    await look(admission);

    await expect(admission.job('acme', 10, () => accept('acme'))).resolves.toMatch(/^j/);
  });

  it('the memory overhead of a job is at most jobOverheadBytes', async () => {
    const used = async () => Number(/used_memory:(\d+)/.exec(await redis.info('memory'))?.[1]);
    await accept('acme');
    const before = await used();

    for (let i = 0; i < 2_000; i += 100) await Promise.all(Array.from({ length: 100 }, () => accept('acme', 0)));

    expect(((await used()) - before) / 2_000).toBeLessThan(jobOverheadBytes);
  });
});
