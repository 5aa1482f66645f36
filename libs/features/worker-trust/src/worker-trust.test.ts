import { encodePacket, heartbeatPacket } from '@svc/contract';
import { useRedisStore } from '@svc/fixtures/store';
import { newWorkerToken } from '@svc/identity';
import { keys } from '@svc/store';
import { toStoredToken } from './create-credential';
import { type TrustMode, WorkerTrust } from './worker-trust';
import { WorkerTrustRepository } from './worker-trust.repository';

const use = useRedisStore();

describe('the trust facts of a process', () => {
  const token = newWorkerToken();
  let stored: Awaited<ReturnType<typeof toStoredToken>>;
  let repository: WorkerTrustRepository;
  let refused: string[];
  beforeAll(async () => {
    stored = await toStoredToken(token);
  });
  beforeEach(() => {
    repository = new WorkerTrustRepository(use.store.redis);
    refused = [];
  });

  const open = async (mode: TrustMode | undefined, config: () => object = () => ({}), trust = repository) => {
    const workers = new WorkerTrust({
      trust,
      config: { at: async () => config() as Record<string, unknown> },
      ...{ attestation: mode, signatures: 'off', handshakes: 'off', sessionTokens: undefined },
      heartbeats: 'authority',
      ...{ clock: { nowMs: () => Date.now() }, defaultTenant: 'house' },
      onRefused: ({ reason }) => refused.push(reason),
      onError: (error) => refused.push(String(error)),
    });
    const revoked: string[] = [];
    workers.onRevoked((id) => revoked.push(id));
    return { workers, revoked };
  };
  const give = (worker_id: string, tenant_id = 'acme') =>
    repository.write('*', {
      credential: {
        ...{ worker_id, tenant_id, allowed_pools: ['main'], allowed_topics: ['job.>'], public_keys: [] },
        ...{ created_by: 'ann', created_at: '2026-01-01T00:00:00.000Z' },
      },
      token: stored,
      maxWorkers: 0,
    });
  const beat = (worker_id = 'w1', auth_token = token) => {
    const packet = heartbeatPacket(
      { trace_id: '', sender_id: worker_id, nowUs: Date.now() * 1_000 },
      { worker_id, pool: 'main', auth_token },
    );
    return { packet, bytes: encodePacket(packet) };
  };

  it('refuse every packet until credentials were read', async () => {
    const { workers } = await open('enforce');
    await give('w1');

    expect(await workers.admits(beat())).toBe(false);
    await workers.sync();
    expect(await workers.admits(beat())).toBe(true);

    expect(refused).toEqual(['credential_cache_unavailable']);
  });

  it('are read once for all packets: a verified token needs no call of Redis', async () => {
    const { workers } = await open('enforce');
    await give('w1');
    await workers.sync();
    await workers.admits(beat());

    expect(Array.from({ length: 100 }, () => workers.admits(beat()))).toEqual(Array(100).fill(true));
  });

  it('change for the workers that changed, and for all when a backup was restored', async () => {
    const { workers, revoked } = await open('enforce');
    await Promise.all([give('w1'), give('w2', 'house')]);
    await workers.sync();
    expect([workers.scopeOf('w1')?.tenant, workers.scopeOf('w2')?.tenant]).toEqual(['acme', undefined]);

    await repository.revoke('*', 'w2', '2026-01-02T00:00:00.000Z');
    await workers.sync();
    expect([workers.scopeOf('w2'), revoked]).toEqual([{ pools: [], topics: [] }, ['w2']]);

    await use.store.redis.hdel(keys.workerCredentials(), 'w1');
    await use.store.redis.set(keys.workerTrustVersion(), '1');
    await workers.sync();
    expect([workers.scopeOf('w1'), revoked]).toEqual([{ pools: [], topics: [] }, ['w2', 'w1']]);
  });

  it('stay in effect while Redis is unavailable', async () => {
    await give('w1');
    let isDown = false;
    const version = () => (isDown ? Promise.reject(new Error('down')) : repository.version());
    const flaky = Object.assign(new WorkerTrustRepository(use.store.redis), { version });
    const { workers, revoked } = await open('enforce', undefined, flaky);
    await workers.sync();
    isDown = true;

    await expect(workers.sync()).rejects.toThrow('down');

    expect([await workers.admits(beat()), revoked]).toEqual([true, []]);
    isDown = false;
    await workers.sync();
  });

  it('follow the mode in the config where the environment sets none, and nothing is read while it is off', async () => {
    let mode = 'off';
    const { workers } = await open(undefined, () => ({ boundary_hardening: { worker_attestation: mode } }));
    await give('w1');
    await workers.sync();
    expect([workers.mode, workers.scopeOf('w1'), await workers.admits(beat('w9'))]).toEqual(['off', undefined, true]);

    for (mode of ['warn', 'enforce', 'nonsense']) {
      await workers.sync();
      expect([workers.mode, await workers.admits(beat('w9'))]).toEqual(
        mode === 'nonsense' ? ['off', true] : [mode, mode === 'warn'],
      );
    }
    expect(refused).toEqual(['credential_invalid', 'credential_invalid']);
  });
});
