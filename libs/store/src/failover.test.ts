import { queues } from '@svc/queues.config';
import { eventually, plainRequest, startRedis, type TestServer } from '@svc/testing';
import { Redis } from 'ioredis';
import { openStore } from './store';

describe('a Redis that fails over to its replica', () => {
  const servers: TestServer[] = [];
  const clients: Redis[] = [];
  afterAll(async () => {
    for (const client of clients) client.disconnect();
    await Promise.all(servers.map((server) => server.stop()));
  });

  async function start() {
    const server = await startRedis();
    const redis = new Redis(server.url, { disconnectTimeout: 50, maxRetriesPerRequest: 1 });
    redis.on('error', () => undefined);
    servers.push(server);
    clients.push(redis);
    return { server, redis, store: openStore(redis, queues, { metaSec: 3_600, dataSec: 600 }) };
  }

  let made = 0;
  const accept = async ({ store }: Awaited<ReturnType<typeof start>>): Promise<string> => {
    const id = `j${(made += 1)}`;
    const fields = { request: plainRequest, submitter: 'ann', job_hash: 'h', deadline_ms: 0 };
    const acceptance = { id, tenant: 'acme', traceId: id, topic: 'job.default', fields, priority: 10, activeLimit: 0 };
    await store.jobs.accept({ ...acceptance, context: '{"prompt":"hi"}' });
    return id;
  };

  it('accepts no jobs once the replica is cut off; the data of the replica is consistent and processing resumes from it', async () => {
    const [primary, replica] = await Promise.all([start(), start()]);
    await primary.redis.call('CONFIG', 'SET', 'repl-diskless-sync-delay', '0');
    await primary.redis.call('CONFIG', 'SET', 'min-replicas-to-write', '1');
    await replica.redis.call('REPLICAOF', '127.0.0.1', String(primary.server.port));
    const before = [await eventually(() => accept(primary))];
    for (let i = 0; i < 50; i++) before.push(await accept(primary));
    await primary.redis.wait(1, 5_000);
    await primary.redis.call('CONFIG', 'SET', 'min-replicas-max-lag', '1');

    // Until the primary detects the lost replica, it acknowledges writes that only it has.
    process.kill(replica.server.pid, 'SIGSTOP');
    const alone: string[] = [];
    const refusal = await eventually(async () => {
      try {
        alone.push(await accept(primary));
        return false;
      } catch (error) {
        return String(error);
      }
    });
    expect(refusal).toMatch(/NOREPLICAS/);
    await primary.server.kill();
    process.kill(replica.server.pid, 'SIGCONT');
    await replica.redis.call('REPLICAOF', 'NO', 'ONE');

    for (const id of before) expect(await replica.store.jobs.load(id)).toMatchObject({ id, state: 'PENDING' });
    const kept = await replica.store.jobs.activeCount('acme');
    const found = await Promise.all(alone.map((id) => replica.store.jobs.load(id)));
    // A record exists together with its index and its queue entry, or not at all.
    expect(kept).toBe(before.length + found.filter((job) => job !== undefined).length);
    expect(await replica.redis.zcard('{s0}:jobs:prioritized')).toBe(kept);
    expect(await accept(replica)).toMatch(/^j/);
  }, 30_000);
});
