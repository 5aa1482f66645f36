import { queues } from '@svc/queues.config';
import { plainRequest } from '@svc/testing';
import { type Acceptance, type JsonObject, type RunCreation, type RunSave } from './index';
import { useRedisStore, type StoreOptions } from './redis-store.testing';

export const runRetention = 3_600;

/** A store with two workflows of the tenant acme: cargo and other. */
export function useRuns(options: StoreOptions = {}) {
  const base = useRedisStore(options);
  const use = {
    get store() {
      return base.store;
    },
    get redis() {
      return base.redis;
    },
    get redisUrl() {
      return base.redisUrl;
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
    lock: (id: string, owner = 'me') => use.store.lease(use.store.keys.runLock(id), owner, 60_000).hold(),
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
    /** Ids of the entries that bring runs to an engine, and of those that fire timers, as they were added. */
    passes: async () => (await use.redis.lrange(use.store.keys.queue(queues.runPasses.name, 'wait'), 0, -1)).reverse(),
    timers: async () =>
      (await use.redis.zrange(use.store.keys.queue(queues.runTimers.name, 'delayed'), 0, '-1')).sort(),
    /** Events in the inbox of a run. */
    inbox: async (id: string) =>
      (await use.redis.lrange(use.store.keys.runInbox(id), 0, -1)).map((event) => JSON.parse(event) as JsonObject),
    /** Accepts a job of a run's step; of the run alone, as a compensation is, without a path. */
    async accept(id: string, run: string, path?: string, over: Partial<Acceptance> = {}) {
      const outcome = await use.store.jobs.accept({
        id,
        tenant: 'acme',
        traceId: run,
        topic: 'job.default',
        fields: {
          request: plainRequest,
          submitter: 's',
          job_hash: 'h',
          run,
          ...(path !== undefined && { run_path: path }),
        },
        context: '{}',
        priority: 10,
        activeLimit: 0,
        ...over,
      });
      if (outcome.kind !== 'accepted') throw new Error(`not accepted: ${outcome.kind}`);
    },
  };
  beforeEach(async () => {
    await use.workflow('cargo');
    await use.workflow('other');
  });
  return use;
}
