import { queues } from '@svc/queues.config';
import { eventually, plainRequest } from '@svc/testing';
import { Redis } from 'ioredis';
import { keys, RunWakes, type FirstTurn, type Placement, type RunCreation, type RunWake, type SavedJob } from './index';
import { useRuns } from './run.testing';
import { waitingPlan } from './store.testing';

const use = useRuns();
const pass = (part: string) => keys.queue(queues.runPasses.name, part);
const place: Placement = { ...waitingPlan, snapshot: 's1', otherLanes: [], mayWait: true };
const worker = { id: 'w1', pool: 'p', max: 1 };
const job = (run: string, over: Partial<SavedJob> = {}): SavedJob => ({
  id: `${run}:weigh@1`,
  tenant: 'acme',
  traceId: run,
  topic: 'job.default',
  fields: { request: plainRequest, submitter: 's', job_hash: 'h', run, run_path: 'weigh', safety_snapshot: 's1' },
  context: '{}',
  priority: 10,
  activeLimit: 0,
  place: { ...place, worker },
  ...over,
});
const start = (id: string, turn: Partial<FirstTurn> = {}, over: Partial<RunCreation> = {}) =>
  use.create(id, {
    status: 'running',
    steps: new Map([['weigh', { status: 'running' }]]),
    turn: { jobs: [job(id)], timers: [], tree: [], ...turn },
    ...over,
  });
const stored = async (id: string) => [await use.store.runs.load(id), await use.store.jobs.load(`${id}:weigh@1`)];
const nothing = [undefined, undefined];

describe('a run created with its first turn', () => {
  beforeEach(() => use.redis.set(keys.policyInEffect(), 's1'));

  it('has its jobs, and sleeps without an event or an entry', async () => {
    expect(await start('r1')).toMatchObject({ kind: 'created', placed: [{ kind: 'dispatched', attempt: 1 }] });

    expect(await stored('r1')).toMatchObject([
      { run: { status: 'running', revision: 1 } },
      { state: 'DISPATCHED', run: 'r1', worker_id: 'w1' },
    ]);
    expect(await use.inbox('r1')).toEqual([]);
    expect(await use.redis.hmget(keys.run('r1'), 'awake', 'acting')).toEqual([null, null]);
    expect([await use.passes(), await use.redis.zcard(pass('delayed'))]).toEqual([[], 0]);
  });

  it('has its timers and its view', async () => {
    await start('r1', {
      timers: [{ member: 'r1#deadline', dueMs: 2_000_000_000_000, queue: 'runTimers' }],
      tree: [{ path: 'weigh', parent: '', name: 'Weigh', begins: true }],
    });

    expect(await use.store.runs.timers('r1')).toEqual([{ member: 'r1#deadline', dueMs: 2_000_000_000_000 }]);
    expect(await use.redis.smembers(`${keys.queue(queues.runs.name, 'run-r1')}:dependencies`)).toHaveLength(1);
  });

  it('is reported with the end of its first job, and with its record', async () => {
    await start('r1');
    const received: RunWake[] = [];
    const listener = new Redis(use.redisUrl, { autoResubscribe: false });
    const wakes = new RunWakes(use.redis, listener, 'e1', (wake) => received.push(wake));
    await wakes.open();
    await wakes.announce();

    await use.store.jobs.move('*', 'r1:weigh@1', 'succeed');

    await eventually(() => received.length === 1);
    expect(received[0]).toMatchObject({
      revision: 1,
      events: [{ kind: 'jobEnded', jobId: 'r1:weigh@1' }],
      loaded: { run: { id: 'r1', status: 'running' }, steps: new Map([['weigh', { status: 'running' }]]) },
    });
    await wakes.close();
  });

  it('is awake when its turn continues', async () => {
    await start('r1', { continues: true }, { start: { kind: 'continue' } });

    expect([await use.inbox('r1'), await use.passes()]).toEqual([[{ kind: 'continue' }], ['run-r1-1']]);
  });

  it('reserves the cost of its jobs in its own budget', async () => {
    const budget = { micros: 70, accounts: [], run: { limit: 100, action: 'deny' } } as const;
    await start(
      'r1',
      {
        jobs: [job('r1', { place: { ...place, worker, budget } }), job('r1', { id: 'b', place: { ...place, budget } })],
      },
      { budget: { limit: 100, action: 'deny' } },
    );

    expect(await use.redis.hget(keys.run('r1'), 'cost_reserved')).toBe('70');
    expect(await use.store.jobs.load('b')).toMatchObject({ parked: '' });
  });

  it('leaves its job to the queue of undecided jobs when policy has changed since the decision', async () => {
    await use.redis.set(keys.policyInEffect(), 'newer');

    expect(await start('r1')).toMatchObject({ kind: 'created', placed: [{ kind: 'queued' }] });
  });

  it('is created once for an idempotency key, with the jobs of one', async () => {
    const idempotency = (answer: string) => ({ idempotency: { key: 'k', hash: 'h', answer, ttlSec: 60 } });

    const outcomes = await Promise.all(['r1', 'r2'].map((id) => start(id, {}, idempotency(id))));

    expect(outcomes).toMatchObject([{ kind: 'created' }, { kind: 'replay', answer: 'r1' }]);
    expect(await stored('r2')).toEqual(nothing);
  });

  it.each<[string, string, () => Promise<unknown>, Partial<RunCreation>]>([
    ['paused', 'an operator has paused the queue of passes', () => use.redis.hset(pass('meta'), 'paused', '1'), {}],
    ['full', 'the tenant has as many runs as it may', () => use.create('other'), { limits: { tenant: 1, all: 0 } }],
    ['no_workflow', 'the workflow was removed', () => use.store.workflows.remove('*', 'cargo', 0), {}],
  ])('is refused as %s when %s, and leaves nothing', async (kind, _, before, over) => {
    await before();

    expect(await start('r1', {}, over)).toMatchObject({ kind });

    expect(await stored('r1')).toEqual(nothing);
  });

  it('leaves no run when a job cannot be accepted', async () => {
    await use.redis.set(keys.jobsInState('acme', 'PENDING'), 'not a set');

    await expect(start('r1')).rejects.toThrow();

    expect(await use.store.runs.load('r1')).toBeUndefined();
    expect(await use.redis.exists(keys.liveRuns())).toBe(0);
  });
});
