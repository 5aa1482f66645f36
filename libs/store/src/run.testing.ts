import { queues } from '@svc/queues.config';
import { useServers } from '@svc/testing';
import { Redis } from 'ioredis';
import { keys, openStore, type RunCreation, type RunSave, type Store } from './index';

export const runRetention = 3_600;

/** A store whose queue table has a queue `passes` besides, with two workflows of the tenant acme: cargo and other. */
export function useRuns() {
  let redis: Redis | undefined;
  let store: Store | undefined;
  // Before the servers' own hook: hooks run in the order they are registered, and a client outliving its server reconnects.
  afterAll(async () => void (await redis?.quit()));
  const servers = useServers();
  beforeAll(() => {
    redis = new Redis(servers.redisUrl);
    const passes = { ...queues.jobs, name: 'passes' };
    store = openStore(redis, { ...queues, passes }, { metaSec: 3_600, dataSec: 600 });
  });
  const opened = <T>(value: T | undefined): T => {
    if (!value) throw new Error('the store is open only inside hooks and tests');
    return value;
  };
  const use = {
    get store() {
      return opened(store);
    },
    get redis() {
      return opened(redis);
    },
    workflow: (id: string, tenant = 'acme') => use.store.workflows.write({ tenant, id, document: { id }, by: 'ann' }),
    create: (id: string, over: Partial<RunCreation> = {}) =>
      use.store.runs.create({
        id,
        tenant: 'acme',
        workflow: { id: 'cargo', version: 1 },
        header: { input: { crates: 2 } },
        events: [{ type: 'run_status', status: 'pending' }],
        limits: { tenant: 0, all: 0 },
        start: { kind: 'start' },
        ...over,
      }),
    lock: (id: string, owner = 'me') => use.store.lease(keys.runLock(id), owner, 60_000).hold(),
    /** A save by the holder of the lock; the token is the revision's unless one is given. */
    save: (id: string, revision: number, over: Partial<RunSave> = {}) =>
      use.store.runs.save({ id, revision, owner: 'me', token: `t${revision}`, ...over }),
    /** Creates a run and takes its lock. */
    async begin(id: string, over: Partial<RunCreation> = {}) {
      const outcome = await use.create(id, over);
      if (outcome.kind !== 'created') throw new Error(`not created: ${outcome.kind}`);
      await use.lock(id);
    },
    end: (id: string, revision = 1, over: Partial<RunSave> = {}) =>
      use.save(id, revision, {
        status: { to: 'succeeded', keepSec: runRetention },
        ...over,
      }),
    /** Ids of entries in a part of the queue `passes`. */
    entries: async (part: 'wait' | 'delayed') =>
      (part === 'wait'
        ? await use.redis.lrange(keys.queue('passes', part), 0, -1)
        : await use.redis.zrange(keys.queue('passes', part), 0, '-1')
      ).sort(),
  };
  beforeEach(async () => {
    await use.workflow('cargo');
    await use.workflow('other');
  });
  return use;
}
