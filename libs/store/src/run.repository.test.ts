import { isRunEnded, runStates } from '@svc/lifecycle';
import { queues } from '@svc/queues.config';
import { findKeyName, keys, liveRunStatuses, runScript, type RunSave } from './index';
import { runRetention, useRuns } from './run.testing';

const use = useRuns();
const runs = () => use.store.runs;
const many = <T>(count: number, make: (i: number) => Promise<T>) =>
  Promise.all(Array.from({ length: count }, (_, i) => make(i)));
const kinds = (outcomes: { kind: string }[]) => outcomes.map(({ kind }) => kind);
const only = (outcomes: { kind: string }[], kind: string) => outcomes.filter((one) => one.kind === kind);
const key = (hash = 'h', answer = 'first') => ({ key: 'k:1', hash, answer, ttlSec: 60 });
/** The complete content of Redis, for assertions that a call changed nothing. */
const everything = async () => {
  const names = (await use.redis.keys('*')).sort();
  return Promise.all(names.map(async (name) => [name, (await use.redis.dumpBuffer(name)).toString('base64')]));
};

describe('a run', () => {
  it('is created with its steps, its first events, a start event in its inbox and the queue entry of its first pass', async () => {
    const outcome = await use.create('r1', {
      teamId: 'red',
      steps: new Map([['weigh', { status: 'succeeded' }]]),
      start: { kind: 'start', by: 'ann' },
    });

    expect(outcome).toEqual({ kind: 'created', atUs: expect.any(Number) as number, placed: [] });
    const loaded = await runs().load('r1');
    expect(loaded?.run).toEqual({
      id: 'r1',
      tenant: 'acme',
      workflow_id: 'cargo',
      workflow_version: 1,
      team_id: 'red',
      status: 'pending',
      revision: 1,
      created_at: loaded?.run.created_at,
      updated_at: loaded?.run.created_at,
      cost: 0,
      header: { input: { crates: 2 } },
    });
    expect(loaded?.steps).toEqual(new Map([['weigh', { status: 'succeeded' }]]));
    expect(await runs().timeline('r1', 10)).toEqual([{ type: 'run_status', status: 'pending' }]);
    expect(await use.inbox('r1')).toEqual([{ kind: 'start', by: 'ann' }]);
    expect(await use.passes()).toEqual(['run-r1-1']);
    expect(await use.redis.hmget(keys.queue(queues.runPasses.name, 'run-r1-1'), 'name', 'data')).toEqual([
      'cargo',
      '{"run_id":"r1"}',
    ]);
  });

  it('is created once for 50 starts with one idempotency key, and all get its response', async () => {
    const outcomes = await many(50, (i) => use.create(`r${i}`, { idempotency: key('h', `r${i}`) }));

    const created = outcomes.findIndex(({ kind }) => kind === 'created');
    expect(only(outcomes, 'created')).toHaveLength(1);
    expect(only(outcomes, 'replay')).toEqual(Array(49).fill({ kind: 'replay', answer: `r${created}` }));
    expect(await use.store.runIndex.active('acme')).toBe(1);
    expect(await use.passes()).toHaveLength(1);
    expect(await runs().reserved('acme', 'cargo', 'k:1')).toEqual({ hash: 'h', answer: `r${created}` });
  });

  it('has an idempotency key scoped to its tenant, workflow and request', async () => {
    await use.workflow('cargo:k');
    await use.create('r1', { idempotency: key() });

    expect(await use.create('r2', { idempotency: key('another') })).toEqual({ kind: 'conflict' });
    expect(
      await use.create('r3', { workflow: { id: 'other', version: 1 }, idempotency: key('another') }),
    ).toMatchObject({ kind: 'created' });
    expect(
      await use.create('r4', { workflow: { id: 'cargo:k', version: 1 }, idempotency: { ...key('x'), key: '1' } }),
    ).toMatchObject({ kind: 'created' });
    await use.redis.hdel(keys.runIdempotency('acme', 'cargo', 'k:1'), 'answer');
    expect(await use.create('r5', { idempotency: key() })).toEqual({ kind: 'reserved' });
  });

  it('is not created beyond the limit under concurrent starts', async () => {
    const limits = { tenant: 3, all: 0 };

    const outcomes = await many(10, (i) => use.create(`r${i}`, { limits }));

    expect(only(outcomes, 'created')).toHaveLength(3);
    expect(only(outcomes, 'full')).toEqual(Array(7).fill({ kind: 'full', of: 'tenant', active: 3 }));
    await use.lock('r0');
    await use.end('r0');
    expect(await use.create('next', { limits })).toMatchObject({ kind: 'created' });
    expect(await use.create('more', { limits: { tenant: 0, all: 3 } })).toEqual({ kind: 'full', of: 'all', active: 3 });
  });

  it('is rejected without side effects when its id or workflow is unusable', async () => {
    await use.create('r1');
    const before = await everything();

    expect(await use.create('r1', { header: {} })).toEqual({ kind: 'exists' });
    expect(await use.create('r2', { workflow: { id: 'cargo', version: 2 } })).toEqual({ kind: 'no_workflow' });
    expect(await use.create('r2', { tenant: 'rival' })).toEqual({ kind: 'no_workflow' });

    expect(await everything()).toEqual(before);
  });

  it('is visible only to its tenant', async () => {
    await use.create('r1');

    expect(await runs().get('acme', 'r1')).toMatchObject({ kind: 'found', value: { run: { id: 'r1' } } });
    expect(await runs().head('*', 'r1')).toMatchObject({ kind: 'found', value: { id: 'r1' } });
    expect([await runs().get('rival', 'r1'), await runs().head('rival', 'r1')]).toEqual([
      { kind: 'other_tenant' },
      { kind: 'other_tenant' },
    ]);
    expect(await runs().get('acme', 'r2')).toEqual({ kind: 'missing' });
  });
});

describe('a save', () => {
  const change = (over: Partial<RunSave> = {}): Partial<RunSave> => ({
    status: { to: 'running' },
    header: { note: 'new' },
    steps: new Map([
      ['weigh', { status: 'running' }],
      ['weigh[1]', { status: 'pending' }],
    ]),
    removed: ['tally'],
    events: [{ type: 'step_dispatched', step_id: 'weigh' }],
    timers: { set: [{ member: 'settle', dueMs: Date.now() + 60_000, queue: 'runTimers' }] },
    processedEvents: 1,
    acting: true,
    tree: [{ path: 'weigh', parent: '', name: 'weigh', begins: true }],
    ...over,
  });

  it('writes everything that a pass changed, and only that', async () => {
    await use.begin('r1', {
      steps: new Map([
        ['tally', { status: 'pending' }],
        ['stow', { status: 'pending' }],
      ]),
    });

    expect(await use.save('r1', 1, change())).toEqual({
      kind: 'saved',
      revision: 2,
      atUs: expect.any(Number) as number,
      left: 0,
      sleeps: false,
      placed: [],
    });

    const loaded = await runs().load('r1');
    expect(loaded?.run).toMatchObject({ status: 'running', revision: 2, header: { note: 'new' } });
    expect(loaded?.steps).toEqual(
      new Map([
        ['stow', { status: 'pending' }],
        ['weigh', { status: 'running' }],
        ['weigh[1]', { status: 'pending' }],
      ]),
    );
    expect(await runs().timeline('r1', 10)).toHaveLength(2);
    expect(await use.timers()).toEqual(['run-r1-2-at-settle']);
    expect([await use.inbox('r1'), await use.passes()]).toEqual([[], ['run-r1-1']]);

    await use.save('r1', 2);
    expect((await runs().load('r1'))?.run).toMatchObject({ status: 'running', revision: 3, header: { note: 'new' } });
  });

  it('succeeds for one of 20 concurrent callers with the same revision', async () => {
    await use.begin('r1');

    const outcomes = await many(20, (i) => use.save('r1', 1, { token: `t${i}`, events: [{ type: 'run_status', i }] }));

    expect(only(outcomes, 'saved')).toEqual([expect.objectContaining({ revision: 2 })]);
    expect(only(outcomes, 'changed')).toEqual(Array(19).fill({ kind: 'changed', revision: 2 }));
    expect(await runs().timeline('r1', 10)).toHaveLength(2);
  });

  it('returns the same outcome when repeated, even without the lock, and changes nothing', async () => {
    await use.begin('r1');
    const first = await use.save('r1', 1, change({ token: 'once' }));
    await use.redis.del(keys.runLock('r1'));
    const before = await everything();

    const repeats = await many(5, () => use.save('r1', 1, change({ token: 'once' })));

    expect(repeats).toEqual(Array(5).fill(first));
    expect(await everything()).toEqual(before);
  });

  it('is refused without side effects: no lock, another owner’s lock, an older revision, an unknown queue', async () => {
    await use.create('r1');
    const unlocked = await everything();
    expect(await use.save('r1', 1, change())).toEqual({ kind: 'fenced' });
    expect(await everything()).toEqual(unlocked);

    await use.lock('r1', 'another');
    const before = await everything();
    const timer = { member: 'x', dueMs: 1, queue: 'nowhere' };
    expect(await use.save('r1', 1, change())).toEqual({ kind: 'fenced' });
    expect(await use.save('r1', 0, change({ owner: 'another' }))).toEqual({ kind: 'changed', revision: 1 });
    await expect(use.save('r1', 1, { owner: 'another', timers: { set: [timer] } })).rejects.toThrow('no queue');
    expect(await use.save('r2', 1)).toEqual({ kind: 'missing' });
    expect(await everything()).toEqual(before);
  });

  it.each(liveRunStatuses)('moves a run from %s to every status reachable in one pass', async (from) => {
    for (const to of runStates.states) {
      await use.begin(to, { status: from });
      const { kind } = await use.save(to, 1, { status: isRunEnded(to) ? { to, keepSec: 60 } : { to } });
      const holds = to !== 'pending' || from === 'pending';
      expect({ to, kind }).toEqual({ to, kind: holds ? 'saved' : 'refused' });
      expect((await runs().header(to))?.status).toBe(holds ? to : from);
    }
  });

  it('writes ten thousand steps at once, and then a single one', async () => {
    const steps = new Map(Array.from({ length: 10_000 }, (_, i) => [`weigh[${i}]`, { status: 'pending', item: i }]));
    await use.begin('r1');

    expect(await use.save('r1', 1, { steps })).toMatchObject({ kind: 'saved' });
    await use.save('r1', 2, { steps: new Map([['weigh[7]', { status: 'succeeded' }]]) });

    const loaded = await runs().load('r1');
    expect(loaded?.steps.size).toBe(10_000);
    expect([loaded?.steps.get('weigh[7]'), loaded?.steps.get('weigh[9999]')]).toEqual([
      { status: 'succeeded' },
      { status: 'pending', item: 9_999 },
    ]);
  });

  it('keeps the newest 1000 events', async () => {
    await use.begin('r1');
    await use.save('r1', 1, { events: Array.from({ length: 1_500 }, (_, n) => ({ n })) });

    expect(await runs().timeline('r1', 2_000)).toHaveLength(1_000);
    expect(await runs().timeline('r1', 2)).toEqual([{ n: 500 }, { n: 501 }]);
  });
});

describe('timers of a run', () => {
  const soonMs = Date.now() + 60_000;
  const timer = (member: string, dueMs: number) => ({ member, dueMs, queue: 'runTimers' });

  it('are set, replaced and cleared together with their queue entries', async () => {
    await use.workflow('a:b%');
    await use.begin('r1', { workflow: { id: 'a:b%', version: 1 } });
    await use.save('r1', 1, {
      timers: { set: [timer('b', soonMs + 2), timer('a:x', 7), timer('c', soonMs + 1)] },
    });

    expect(await runs().timers('r1')).toEqual([
      { member: 'a:x', dueMs: 7 },
      { member: 'c', dueMs: soonMs + 1 },
      { member: 'b', dueMs: soonMs + 2 },
    ]);
    expect(await use.store.runIndex.dueTimers(10)).toEqual([
      { workflowId: 'a:b%', runId: 'r1', member: 'a:x', dueMs: 7 },
    ]);

    await use.save('r1', 2, { timers: { set: [timer('b', soonMs + 9)], clear: ['a:x', 'unknown'] } });

    expect(await runs().timers('r1')).toEqual([
      { member: 'c', dueMs: soonMs + 1 },
      { member: 'b', dueMs: soonMs + 9 },
    ]);
    expect(await use.timers()).toEqual(['run-r1-2-at-c', 'run-r1-3-at-b']);
    expect(await use.redis.hget(keys.queue(queues.runTimers.name, 'run-r1-3-at-b'), 'data')).toBe(
      '{"run_id":"r1","timer":"b"}',
    );
    expect(await use.redis.zcard(keys.delayTimers())).toBe(2);
  });

  it('fire immediately when already due', async () => {
    await use.begin('r1');
    await use.save('r1', 1, { timers: { set: [timer('late', 5)] } });

    expect(await use.timers()).toEqual(['run-r1-2-at-late']);
    expect(await use.store.runIndex.dueTimers(10)).toMatchObject([{ runId: 'r1', member: 'late' }]);
  });
});

describe('the end of a run', () => {
  it('removes it from the active runs, clears its timers and sets its expiry; later writes are refused', async () => {
    await use.begin('r1', { steps: new Map([['weigh', {}]]) });
    await use.save('r1', 1, { timers: { set: [{ member: 'x', dueMs: Date.now() + 60_000, queue: 'runTimers' }] } });

    expect(await use.end('r1', 2)).toMatchObject({ kind: 'saved' });

    const run = await runs().header('r1');
    expect(run).toMatchObject({ status: 'succeeded', ended_at: run?.updated_at });
    expect([await use.store.runIndex.active('acme'), await use.timers()]).toEqual([0, []]);
    expect(await use.redis.exists(keys.delayTimers(), keys.runTimers('r1'), keys.liveRuns())).toBe(0);
    for (const name of [keys.run('r1'), keys.runSteps('r1'), keys.runTimeline('r1')]) {
      expect(await use.redis.ttl(name)).toBeGreaterThan(runRetention - 60);
    }
    expect(await use.save('r1', 3, { header: {} })).toEqual({ kind: 'refused', status: 'succeeded' });
    expect(kinds([await use.end('r1', 2)])).toEqual(['saved']);
  });

  it('permits its removal, by its tenant only', async () => {
    await use.begin('r1', { idempotency: key() });

    expect(await runs().remove('acme', 'r1')).toEqual({ kind: 'active', status: 'pending' });
    await use.end('r1');
    expect(await runs().remove('rival', 'r1')).toEqual({ kind: 'other_tenant' });
    expect([await runs().remove('acme', 'r1'), await runs().remove('acme', 'r1')]).toEqual([
      { kind: 'removed' },
      { kind: 'missing' },
    ]);
    const left = (await use.redis.keys('*')).filter((name) => name.includes('r1') || name.includes(':runs:'));
    expect(left.sort()).toEqual([keys.runLock('r1'), keys.queue(queues.runPasses.name, 'run-r1-1')]);
    expect(await use.create('r1', { idempotency: key() })).toMatchObject({ kind: 'replay' });
  });
});

describe('the key table', () => {
  it('declares every key of workflows and runs', async () => {
    await use.begin('r1', { idempotency: key() });
    await use.save('r1', 1, {
      steps: new Map([['weigh', {}]]),
      timers: { set: [{ member: 'x', dueMs: Date.now() + 60_000, queue: 'runTimers' }] },
    });
    await use.begin('r2');
    await use.end('r2');
    await runScript(
      use.store.redis,
      'addMessages',
      keys.messages('run:r1'),
      keys.messagesDropped('run:r1'),
      1,
      '',
      'run:r1',
      '{}',
      '{}',
    );

    const names = new Set((await use.redis.keys('*')).map((key) => findKeyName(key)));

    expect([...names].sort()).toEqual(
      [
        'workflow', 'workflows', 'run', 'runSteps', 'runTimeline', 'runTimers', 'runInbox',
        'runIdempotency', 'runsInStatus', 'runsOfWorkflow', 'runsCreated', 'liveRuns', 'liveRunsOf', 'endedRuns',
        'runLock', 'delayTimers', 'messages', 'messagesDropped', 'queue', 'auditOutbox',
      ].sort(), // prettier-ignore
    );
  });
});
