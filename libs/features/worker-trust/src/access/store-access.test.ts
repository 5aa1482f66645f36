import { useRedisStore } from '@svc/fixtures/store';
import { newWorkerToken } from '@svc/identity';
import { keys } from '@svc/store';
import { eventually } from '@svc/testing';
import { Redis } from 'ioredis';
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { toStoredToken } from '../create-credential';
import { WorkerTrustRepository } from '../worker-trust.repository';
import { NatsAccess } from './nats-access';
import { RedisAccess } from './redis-access';
import { type AccessTarget, StoreAccess } from './store-access';
import type { AccessChanges } from './worker-secrets';

const use = useRedisStore();

describe('users of the stores', () => {
  const dir = mkdtempSync(join(tmpdir(), 'svc-store-access-'));
  const file = join(dir, 'workers.conf');
  const applied: [store: string, workers: number, changes: AccessChanges][] = [];
  const failed: string[] = [];
  const calls: [string, readonly string[]][] = [];
  const clients: Redis[] = [];
  let repository: WorkerTrustRepository;
  let isBusDown = false;

  beforeEach(async () => {
    repository = new WorkerTrustRepository(use.store.redis);
    for (const list of [applied, failed, calls]) list.splice(0);
    isBusDown = false;
    rmSync(file, { force: true });
    for (const name of await listUsers()) await use.store.redis.call('ACL', 'DELUSER', name);
  });
  afterEach(() => clients.splice(0).forEach((client) => client.disconnect()));
  afterAll(() => rmSync(dir, { recursive: true, force: true }));

  /** Records the calls; that consumers exist is tested with a real NATS in libs/kits/bus and tools/credentials. */
  const bus = {
    ensureWorkerConsumers: async (ids: readonly string[]) => {
      if (isBusDown) throw new Error('bus is down');
      calls.push(['ensure', [...ids].sort()]);
    },
    deleteWorkerConsumers: async (ids: readonly string[]) => void calls.push(['delete', ids]),
  };
  const duplicate = () => {
    const client = use.store.redis.duplicate();
    clients.push(client);
    return client;
  };
  const open = (targets: AccessTarget[]) =>
    new StoreAccess({
      trust: repository,
      targets,
      onApplied: (...call) => void applied.push(call),
      onFailed: (store, error) => void failed.push(`${store}: ${String(error)}`),
    });
  const give = async (worker_id: string, tenant_id = 'acme') => {
    const token = newWorkerToken();
    const credential = {
      ...{ worker_id, tenant_id, allowed_pools: ['main'], allowed_topics: ['job.>'], public_keys: [] },
      ...{ created_by: 'ann', created_at: '2026-01-01T00:00:00.000Z' },
    };
    // A cheap hash: argon2 is no part of this.
    await repository.write('*', { credential, token: await toStoredToken(token, async () => 'h'), maxWorkers: 0 });
    return token;
  };
  const revoke = (id: string) => repository.revoke('*', id, '2026-01-02T00:00:00.000Z');
  const listUsers = async () =>
    ((await use.store.redis.call('ACL', 'USERS')) as string[]).filter((name) => name.startsWith('worker-')).sort();
  const connectAs = (username: string, password: string) => {
    const { host = '', port = 0 } = use.store.redis.options;
    const client = new Redis({ host, port, username, password, maxRetriesPerRequest: 0, retryStrategy: () => null });
    client.on('error', () => undefined);
    clients.push(client);
    return client;
  };
  const accounts = () => [...readFileSync(file, 'utf8').matchAll(/^"(worker-[^"]+)"/gm)].map(([, name]) => name);

  it('follow credentials, and nothing is written while these do not change', async () => {
    const access = open([new NatsAccess(file, bus), new RedisAccess(duplicate(), 'acme')]);
    await Promise.all([give('w1'), give('w2')]);
    await access.sync();
    expect([accounts(), await listUsers()]).toEqual([['worker-w1', 'worker-w2'], ['worker-w1', 'worker-w2']]);
    const { mtimeMs } = statSync(file);
    await access.sync();
    expect([statSync(file).mtimeMs, applied.length]).toEqual([mtimeMs, 2]);

    await revoke('w1');
    await give('w2');
    await give('w3');
    await access.sync();

    expect([accounts(), await listUsers()]).toEqual([['worker-w2', 'worker-w3'], ['worker-w2', 'worker-w3']]);
    const changes = { granted: 1, replaced: 1, revoked: 1 };
    expect(applied.slice(2).sort()).toEqual([['nats', 2, changes], ['redis', 2, changes]]);
    expect(calls.slice(-2)).toEqual([['delete', ['w1']], ['ensure', ['w2', 'w3']]]);
    expect(failed).toEqual([]);
  }); // prettier-ignore

  it('are made in Redis only for the default tenant, whose workers run the jobs of all tenants', async () => {
    const access = open([new NatsAccess(file, bus), new RedisAccess(duplicate(), 'acme')]);
    await give('w1');
    await give('w2', 'globex');
    await access.sync();

    expect([accounts(), await listUsers()]).toEqual([['worker-w1', 'worker-w2'], ['worker-w1']]);

    await give('w1', 'globex');
    await access.sync();
    expect(await listUsers()).toEqual([]);
  });

  it('of another process with an older view of the file are replaced, and it keeps the mode of the file', async () => {
    writeFileSync(file, 'old', { mode: 0o644 });
    const access = open([new NatsAccess(file, bus)]);
    await give('w1');
    await access.sync();
    expect([accounts(), statSync(file).mode & 0o777]).toEqual([['worker-w1'], 0o644]);

    writeFileSync(file, 'written by another scheduler');
    await access.sync();

    expect(accounts()).toEqual(['worker-w1']);
  });

  it('of a worker with a replaced or revoked token lose their connections, those of others do not', async () => {
    const access = open([new RedisAccess(duplicate(), 'acme')]);
    const tokens = [await give('w1'), await give('w2'), await give('w3')];
    await access.sync();
    const [first, second, third] = ['w1', 'w2', 'w3'].map((id, i) => connectAs(`worker-${id}`, tokens[i] ?? ''));
    await Promise.all([first, second, third].map((client) => client?.ping()));

    await revoke('w1');
    await give('w2');
    await access.sync();

    await eventually(() => expect([first?.status, second?.status]).toEqual(['end', 'end']));
    expect(await third?.ping()).toBe('PONG');
    await expect(third?.get('svc:workers:tokens')).rejects.toThrow('NOPERM');
  });

  it('are restored when Redis has forgotten them, without a change of credentials', async () => {
    const admin = duplicate();
    const access = open([new RedisAccess(admin, 'acme')]);
    await give('w1');
    await access.sync();
    await use.store.redis.call('ACL', 'DELUSER', 'worker-w1');

    const ready = new Promise((resolve) => admin.once('ready', resolve));
    admin.disconnect(true);
    await ready;
    await access.sync();

    expect(await listUsers()).toEqual(['worker-w1']);
  });

  it('of one store do not wait for another that is unavailable, which catches up later', async () => {
    const access = open([new NatsAccess(file, bus), new RedisAccess(duplicate(), 'acme')]);
    isBusDown = true;
    await give('w1');
    await access.sync();

    // The file is written before consumers are created, so that a revocation is in effect.
    expect([accounts(), await listUsers(), failed]).toEqual([
      ['worker-w1'],
      ['worker-w1'],
      ['nats: Error: bus is down'],
    ]);
    isBusDown = false;
    await access.sync();
    expect(calls.at(-1)).toEqual(['ensure', ['w1']]);
  });

  it('are none for credentials without the hashes, and none for a worker with the name of the services', async () => {
    const access = open([new NatsAccess(file, bus)]);
    await Promise.all([give('w1'), give('svc'), give('old')]);
    await use.store.redis.hset(keys.workerTokens(), 'old', 'abcdef01 $argon2id$x');

    await access.sync();

    expect(accounts()).toEqual(['worker-w1']);
    expect(calls.at(-1)).toEqual(['ensure', ['w1']]);
  });

  it('are those of a restored backup', async () => {
    const access = open([new NatsAccess(file, bus)]);
    await Promise.all([give('w1'), give('w2')]);
    await access.sync();

    await use.store.redis.hdel(keys.workerCredentials(), 'w2');
    await use.store.redis.set(keys.workerTrustVersion(), '1');
    await access.sync();

    expect(accounts()).toEqual(['worker-w1']);
  });
});
