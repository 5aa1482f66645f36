import type { ApiKeyRecord } from '@svc/store';
import { useRedisStore } from '@svc/fixtures/store';
import { ManagedKeys } from './managed-keys';

describe('managed keys in memory', () => {
  const use = useRedisStore();
  let nowMs = 0;
  const clock = { nowMs: () => nowMs };
  const changed: (string | undefined)[] = [];
  let reads = 0;
  const open = () => {
    const { apiKeys } = use.store;
    const find = (digest: string) => {
      reads += 1;
      return apiKeys.find(digest);
    };
    const counted = {
      find,
      version: () => apiKeys.version(),
      changedSince: (version: number) => apiKeys.changedSince(version),
      countUses: (uses: Parameters<typeof apiKeys.countUses>[0]) => apiKeys.countUses(uses),
    };
    return new ManagedKeys({ apiKeys: counted, clock, onChanged: (id) => void changed.push(id) });
  };
  const record = (id: string): ApiKeyRecord => ({
    ...{ id, name: id, prefix: 'ck_', tenant: 'acme', scopes: ['jobs:read'] },
    ...{ created_at: '', created_by: 'apikey:ann|principal:ann' },
  });
  beforeEach(async () => {
    [nowMs, reads] = [1_000_000, 0];
    changed.length = 0;
    await use.store.apiKeys.create(record('k1'), 'digest-1', 1);
  });

  it('a key is read once, and belongs to its makers too', async () => {
    const keys = open();
    await keys.sync();

    const identity = await keys.find('digest-1');
    await keys.find('digest-1');

    expect(identity).toMatchObject({ tenant: 'acme', role: 'viewer', scopes: ['jobs:read'] });
    expect(identity?.submitter).toBe('apikey:digest-1|apikey:ann|principal:ann');
    expect(reads).toBe(1);
  });

  it('keys end with the user who made them, and are valid again with that user', async () => {
    const now = '2026-01-01T00:00:00.000Z';
    const user = {
      ...{ id: 'ann-1', tenant: 'acme', username: 'ann', role: 'admin', source: 'user' as const },
      ...{ created_at: now, updated_at: now },
    };
    const act = { event_type: 'identity.change', action: 'user.write', severity: 'MEDIUM' } as const;
    await use.store.users.write({ user, expected: 0, act });
    const made = { ...record('k2'), created_by: 'apikey:root|user:ann-1|principal:ann' };
    await use.store.apiKeys.create(made, 'digest-2', 2);
    const keys = open();
    await keys.sync();
    expect(await keys.find('digest-2')).toBeDefined();

    await use.store.users.write({ user: { ...user, disabled: true }, expected: 1, act });
    await keys.sync();

    expect([await keys.find('digest-2'), await keys.find('digest-1')]).toEqual([undefined, expect.anything()]);
    expect(changed).toEqual([undefined]);
    await use.store.users.write({ user, expected: 2, act });
    await keys.sync();
    expect(await keys.find('digest-2')).toBeDefined();
  });

  it('a revoked key ends with the next sync, and within a second without one', async () => {
    const [following, paused] = [open(), open()];
    for (const keys of [following, paused]) {
      await keys.sync();
      await keys.find('digest-1');
    }

    await use.store.apiKeys.revoke('*', 'k1', 'now');
    nowMs += 400;
    await following.sync();

    expect(await following.find('digest-1')).toBeUndefined();
    expect(changed).toEqual(['k1']);
    nowMs += 600;
    expect(await paused.find('digest-1')).toBeUndefined();
  });

  it('a key that is created after a guess of it works with the next sync', async () => {
    const keys = open();
    await keys.sync();
    expect(await keys.find('digest-2')).toBeUndefined();
    await keys.find('digest-2');
    expect(reads).toBe(1);

    await use.store.apiKeys.create(record('k2'), 'digest-2', 2);
    await keys.sync();

    expect(await keys.find('digest-2')).toBeDefined();
  });

  it('a read that began before a change is not kept', async () => {
    const { apiKeys } = use.store;
    let isRevoked = false;
    const keys: ManagedKeys = new ManagedKeys({
      apiKeys: {
        find: async (digest) => {
          const found = await apiKeys.find(digest);
          if (!isRevoked) {
            isRevoked = true;
            await apiKeys.revoke('*', 'k1', 'now');
            await keys.sync();
          }
          return found;
        },
        version: () => apiKeys.version(),
        changedSince: (version) => apiKeys.changedSince(version),
        countUses: (uses) => apiKeys.countUses(uses),
      },
      clock,
      onChanged: () => undefined,
    });
    await keys.sync();
    await keys.find('digest-1');

    expect(await keys.find('digest-1')).toBeUndefined();
  });

  it('guesses displace no valid key, and all keys are dropped after more changes than are kept', async () => {
    const keys = open();
    await keys.sync();
    await keys.find('digest-1');
    for (let i = 0; i < 1_100; i++) await keys.find(`guess-${i}`);
    reads = 0;
    await keys.find('digest-1');
    await keys.find('guess-1099');
    expect(reads).toBe(0);
    await keys.find('guess-0');
    expect(reads).toBe(1);

    await use.store.apiKeys.revoke('*', 'k1', 'now');
    await use.redis.incrby('svc:auth:keys-version', 2_000);
    await keys.sync();

    expect(await keys.find('digest-1')).toBeUndefined();
    expect(changed).toEqual([undefined]);
  });

  it('uses are stored together, and again after a failure', async () => {
    const { apiKeys } = use.store;
    let fails = true;
    const keys = new ManagedKeys({
      apiKeys: {
        find: (digest) => apiKeys.find(digest),
        version: () => apiKeys.version(),
        changedSince: (version) => apiKeys.changedSince(version),
        countUses: (uses) => (fails ? Promise.reject(new Error('lost')) : apiKeys.countUses(uses)),
      },
      clock,
      onChanged: () => undefined,
    });
    const identity = await keys.find('digest-1');
    if (!identity) throw new Error('not found');

    keys.countUse(identity);
    keys.countUse(identity);
    await expect(keys.flush()).rejects.toThrow('lost');
    keys.countUse({ ...identity, isManagedKey: undefined } as never);
    nowMs += 5;
    keys.countUse(identity);
    fails = false;
    await keys.flush();
    await keys.flush();

    expect(await apiKeys.list('acme')).toMatchObject([{ uses: 3, lastUsedMs: 1_000_005 }]);
  });

  it('uses of a revoked key create no record', async () => {
    await use.store.apiKeys.countUses([{ id: 'unknown', count: 1, lastMs: 1 }]);

    expect(await use.redis.exists('svc:auth:key:unknown')).toBe(0);
  });
});
