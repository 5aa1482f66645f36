import { queues } from '@svc/queues.config';
import { plainRequest, useServers } from '@svc/testing';
import { Redis } from 'ioredis';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { findKeyName, buildKeys, keyTable, openStore, runScript, type Store } from './index';
import { openShard } from './redis-store.testing';
import { waitingPlan } from './store.testing';

const shards = ['s0', 's1'] as const;
type Shard = (typeof shards)[number];
const account = { account: 'tenant:acme', period: '2026-11-22' };
const budget = (micros: number) => ({
  micros,
  accounts: [{ ...account, limit: 100, action: 'throttle', alerts: [50], ttlSec: 600 } as const],
  run: { limit: 0, action: 'throttle' } as const,
});

describe('two shards on one server', () => {
  let redis: Redis;
  let stores: Record<Shard, Store>;
  // Registered before the hooks of the servers, so that clients close before their server stops.
  afterAll(async () => void (await Promise.all([redis, stores.s0.redis, stores.s1.redis].map((one) => one.quit()))));
  const servers = useServers();
  beforeAll(async () => {
    redis = new Redis(servers.redisUrl);
    const [s0, s1] = await Promise.all(shards.map((shard) => openShard(redis, servers.redisUrl, shard)));
    if (!s0 || !s1) throw new Error('no store');
    stores = { s0, s1 };
  });

  /** Runs a step on each shard, with the same ids, and expects the same outcome. */
  async function onEach<T>(step: (store: Store, shard: Shard) => Promise<T>): Promise<T> {
    const [first, second] = await Promise.all(shards.map((shard) => step(stores[shard], shard)));
    expect(second).toEqual(first);
    return first as T;
  }

  const accept = (store: Store, id: string, over: object = {}) =>
    store.jobs.accept({
      id,
      tenant: 'acme',
      traceId: 'trace',
      topic: 'job.default',
      fields: { request: plainRequest, submitter: 'ann', job_hash: 'h', safety_snapshot: 'p1' },
      context: '{}',
      priority: 10,
      activeLimit: 2,
      idempotency: { key: id, hash: 'h', answer: '{}', ttlSec: 60 },
      ...over,
    });
  /** The same, for steps whose outcome has a kind. */
  const kind = (step: (store: Store) => Promise<{ kind: string }>) => onEach(async (store) => (await step(store)).kind);
  const worker = { id: 'w1', pool: 'p', max: 1 };
  const state = async (store: Store, id: string) => (await store.jobs.load(id))?.state;

  it('process jobs of the same ids side by side, with limits, budgets and dead letters of their own', async () => {
    await Promise.all(shards.map((shard) => redis.set(buildKeys(shard).policyInEffect(), 'p1')));
    const place = { snapshot: 'p1', ...waitingPlan, worker, otherLanes: [], mayWait: true, licenseCap: 1 };

    const first = await onEach(async (store) => {
      const outcome = await accept(store, 'a', { place: { ...place, budget: budget(60) } });
      return outcome.kind === 'accepted' && outcome.placed;
    });
    expect(first).toEqual({ kind: 'dispatched', attempt: 1 });
    const second = await onEach(async (store) => {
      const outcome = await accept(store, 'b', { place: { ...place, dispatchId: 'd2', budget: budget(30) } });
      return outcome.kind === 'accepted' && outcome.placed;
    });
    expect(second).toEqual({ kind: 'waiting', reason: 'pool_overloaded' });
    expect(await kind((store) => accept(store, 'c'))).toBe('backpressure');

    await kind((store) => store.jobs.move('*', 'a', 'start'));
    const deadLetter = { body: '{}', ttl_sec: 60, topic: 'job.default', reason: 'x' };
    const extras = { set: { cost: 40 }, deadLetter, audit: '{"action":"x"}', intent: '{}' };
    await kind((store) => store.jobs.move('*', 'a', 'fail', extras));
    const claimed = await onEach(async (store) => {
      const lanes = Object.keys(await store.workers.lanes());
      const request = { worker, lanes, dispatchIds: ['d3'], licenseCap: 1, snapshot: 'p1' };
      return (await store.jobs.claim(request)).jobs.map(({ id }) => id);
    });
    expect(claimed).toEqual(['b']);
    await onEach((store) => store.jobs.note('b', { states: ['DISPATCHED'] }, { waiting_reason: 'x' }));
    await kind((store) => store.jobs.move('*', 'b', 'succeed'));

    expect(await onEach((store) => state(store, 'b'))).toBe('SUCCEEDED');
    expect(await onEach((store) => store.spend.read([account]))).toMatchObject([{ reserved: 0, spent: 70 }]);
    expect(await onEach((store) => store.spend.alerts(10).then((alerts) => alerts.length))).toBe(1);
    expect(await onEach((store) => redis.llen(store.keys.policyAudit('acme')))).toBe(1);
    expect(await onEach((store) => store.deadLetters.get('*', 'a'))).toBeDefined();
    await onEach((store) => store.deadLetters.remove('acme', 'a'));
    expect(await onEach((store) => store.workers.freeWorkerSlots('w1'))).toBe(0);
    await expectOwnKeys();
  });

  it('process runs of the same ids side by side, with their locks, timers and schedules', async () => {
    await kind((store) => store.workflows.write({ tenant: 'acme', id: 'w', document: { id: 'w' }, by: 'ann' }));
    const creation = {
      id: 'r',
      tenant: 'acme',
      workflow: { id: 'w', version: 1 },
      header: {},
      events: [],
      limits: { tenant: 1, all: 1 },
      start: { kind: 'start' },
    };
    await kind((store) => store.runs.create(creation));
    expect(await kind((store) => store.runs.create({ ...creation, id: 'r2' }))).toBe('full');

    // Each shard has its own lock of the run.
    expect(await kind((store) => store.runs.open('r', 'me', 60_000, 10))).toBe('open');
    const timers = { set: [{ member: 't', dueMs: 1, queue: 'runTimers' as const }] };
    const save = { id: 'r', owner: 'me', token: '1', revision: 1, processedEvents: 1, timers };
    expect(await kind((store) => store.runs.save(save))).toBe('saved');
    const fields = { request: plainRequest, submitter: 's', job_hash: 'h', run: 'r', run_path: 's' };
    const stepJob = { fence: { run: 'r', owner: 'me' }, fields };
    expect(await kind((store) => accept(store, 'r:s@1', stepJob))).toBe('accepted');
    await kind((store) => store.jobs.move('*', 'r:s@1', 'cancel'));
    expect(await onEach((store) => store.runIndex.dueTimers(9))).toMatchObject([{ runId: 'r', member: 't' }]);
    expect(await kind((store) => store.runs.fireTimer('r', 't'))).toBe('fired');
    expect(await onEach((store) => store.queuePositions.ofRun('r').then(({ inbox }) => inbox))).toBe(2);
    expect(await onEach((store) => store.runs.close('r', 'me', 'go_on'))).toBe('more');

    const schedule = { id: 's', tenant: 'acme', workflowId: 'w', revision: 0, document: {}, dueMs: 1, by: 'ann' };
    expect(await kind((store) => store.schedules.write(schedule))).toBe('written');
    expect(await kind((store) => store.schedules.claim({ id: 's', revision: 1, dueMs: 1, starts: [1] }))).toBe(
      'claimed',
    );
    await expectOwnKeys();
  });

  /** Every key belongs to a shard, or is data of a job; and each shard has the same names. */
  async function expectOwnKeys(): Promise<void> {
    const names = await redis.keys('*');
    const untagged = names.filter((name) => !name.startsWith('{s0}:') && !name.startsWith('{s1}:'));
    const getGroup = (name: string) => keyTable[findKeyName(name) ?? 'installation'].group;
    expect(untagged.filter((name) => !['data', 'fixed name'].includes(getGroup(name)))).toEqual([]);
    const tagged = (shard: Shard) => {
      const own = names.filter((name) => name.startsWith(`{${shard}}:`));
      return [...new Set(own.map((name) => findKeyName(name, shard)))].sort();
    };
    const fixed = ['runLock', 'delayTimers'];
    expect(tagged('s0')).toEqual(tagged('s1').filter((name) => !fixed.includes(name ?? '')));
  }

  it('reject a script that touches the other shard, by a key of the call or by one that it builds', async () => {
    await accept(stores.s0, 'a');

    await expect(runScript(stores.s1.redis, 'move', buildKeys('s0').job('a'), 'a', '{}', '')).rejects.toThrow(/NOPERM/);
    await expect(stores.s1.redis.hgetall(buildKeys('s0').job('a'))).rejects.toThrow(/NOPERM/);
    const settled = ['a', 'acme', '', '{}', '', '{s0}:job:a', '{}', 1];
    await redis.set(buildKeys('s1').deadLetter('a'), '{}');
    await redis.hset(buildKeys('s1').job('a'), { state: 'OUTPUT_QUARANTINED', output_safety: '' });
    const { job, deadLetter } = buildKeys('s1');
    const built = runScript(stores.s1.redis, 'settleQuarantine', job('a'), deadLetter('a'), ...settled);
    await expect(built).rejects.toThrow(/can't access at least one of the keys/);
  });

  it('keep the functions of the other when they load theirs', async () => {
    await redis.function('FLUSH');
    await onEach((store) => state(store, 'none'));
    await kind((store) => store.jobs.move('*', 'none', 'cancel'));

    const libraries = (await redis.function('LIST')) as unknown[][];

    expect(libraries.map((fields) => String(fields[1]).replace(/[0-9a-f]{16}$/, '')).sort()).toEqual([
      'svc_',
      'svc_s1_',
    ]);
  });

  it('need a connection each', () => {
    expect(() => openStore(stores.s0.redis, queues, { metaSec: 1, dataSec: 1 }, 's1')).toThrow(/serves the shard s0/);
    expect(() => buildKeys('no}tag')).toThrow(/not the name of a shard/);
  });
});

describe('the keys that scripts name', () => {
  const dir = join(__dirname, 'scripts');
  const files = ['include', '.'].flatMap((folder) =>
    readdirSync(join(dir, folder)).flatMap((file) => (file.endsWith('.lua') ? [join(folder, file)] : [])),
  );
  const named = files.map((file) => {
    const code = readFileSync(join(dir, file), 'utf8').replace(/--\[\[.*?\]\]|--[^\n]*/gs, '');
    const names = [...code.matchAll(/\bkey\.(\w+)/g)].map(([, name]) => name as keyof typeof keyTable);
    return { file, code, names: [...new Set(names)] };
  });

  it('are built from the table only', () => {
    const literals = named.filter(({ code }) =>
      /['"](?:\{\w+\}|svc:|sys:|cfg:|ctx:|res:|mem:|art:|schema:|session:)/.test(code),
    );
    expect(literals.map(({ file }) => file)).toEqual([]);
  });

  it('belong to the shard, except in scripts that write documents of the installation', () => {
    const ofInstallation = named.filter(({ names }) => names.some((name) => keyTable[name].group === 'installation'));

    expect(ofInstallation.map(({ file }) => file).sort()).toEqual([
      'addLiveWorker-1.lua',
      'addShadowResults-1.lua',
      'appendAudit-1.lua',
      'changeTenant-1.lua',
      'countApiKeyUses-0.lua',
      'createApiKey-1.lua',
      'createLegalHold-1.lua',
      'createSession-1.lua',
      'endSessions-1.lua',
      'findApiKey-1.lua',
      'include/api-keys.lua',
      'include/trust.lua',
      'issueWorkerSession-1.lua',
      'openChallenge-1.lua',
      'readSession-1.lua',
      'releaseLegalHold-1.lua',
      'removeSchema-1.lua',
      'replaceConfig-1.lua',
      'revokeApiKey-1.lua',
      'revokeWorkerCredential-1.lua',
      'revokeWorkerSession-1.lua',
      'trimAudit-1.lua',
      'writePolicy-1.lua',
      'writeRoles-1.lua',
      'writeSchema-1.lua',
      'writeScimGroup-1.lua',
      'writeShadow-1.lua',
      'writeUser-1.lua',
      'writeWorkerCredential-1.lua',
    ]);
  });
});
