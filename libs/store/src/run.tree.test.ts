import { shardTag } from '@svc/queues';
import { queues } from '@svc/queues.config';
import { FlowProducer, type JobNode } from 'bullmq';
import type { Admission, TreeChange } from './index';
import { buildKeys } from './index';
import { useRuns } from './run.testing';
import { waitingPlan } from './store.testing';

const shard = 's1';
const keys = buildKeys(shard);
const use = useRuns({ shard });
let flows: FlowProducer | undefined;
afterEach(async () => {
  await flows?.close();
  flows = undefined;
});

const flow = async (id: string) => {
  flows ??= new FlowProducer({ connection: { url: use.redisUrl }, prefix: shardTag(shard) });
  const node = await flows.getFlow({
    id: `run-${id}`,
    queueName: queues.runs.name,
    prefix: shardTag(shard),
    maxChildren: 100,
  });
  return (node as JobNode | undefined) && node;
};

interface Shown {
  at: string;
  below?: Shown[];
}
/** Queue, name, state and what it answered of each entry, as the board shows them. */
const shown = async ({ job, children = [] }: JobNode): Promise<Shown> => {
  const below = await Promise.all(children.filter(Boolean).map(shown));
  const outcome = job.failedReason ?? (job.returnvalue as string | undefined) ?? '';
  return {
    at: [job.queueName, job.name, await job.getState(), outcome].join(' ').trim(),
    ...(below.length > 0 && { below: below.sort((a, b) => a.at.localeCompare(b.at)) }),
  };
};
const tree = async (id: string) => {
  const node = await flow(id);
  return node && shown(node);
};

const begins = (path: string, parent = '', over: Partial<TreeChange> = {}): TreeChange => ({
  path,
  parent,
  name: path,
  begins: true,
  ...over,
});
const ends = (path: string, parent = '', over: Partial<TreeChange> = {}): TreeChange => ({
  path,
  parent,
  name: path,
  ends: 'succeeded',
  ...over,
});
const admission: Admission = {
  ...waitingPlan,
  set: {},
};
const worker = { id: 'w1', pool: 'p', max: 9 };
const claim = (snapshot: string) => ({ worker, lanes: ['job.default'], dispatchIds: ['d1'], licenseCap: 0, snapshot });
const dispatch = (id: string) => use.store.jobs.admit(id, { ...admission, worker });
const step = (below?: string, at = 'weigh') => ({
  at: `workflow-steps ${at} waiting-children`,
  ...(below && { below: [{ at: below }] }),
});

describe('a run in the board', () => {
  it('waits for its children from its start, under its given name', async () => {
    await use.create('r1', { name: 'Weigh the cargo' });
    await use.create('r2');

    expect(await tree('r1')).toEqual({ at: 'workflow-runs Weigh the cargo waiting-children' });
    expect(await tree('r2')).toEqual({ at: 'workflow-runs cargo waiting-children' });
    expect((await flow('r1'))?.job.data).toEqual({ run_id: 'r1', workflow_id: 'cargo' });
  });

  it('is a tree of steps and items, which end before the run', async () => {
    await use.begin('r1');
    await use.save('r1', 1, {
      tree: [
        begins('weigh', '', { name: 'Weigh' }),
        ...[0, 1].map((i) => begins(`weigh[${i}]`, 'weigh', { name: `crate ${i}` })),
        begins('skip', '', { ends: 'skipped' }),
      ],
    });
    const waits = (name: string) => ({ at: `workflow-steps ${name} waiting-children` });
    const skipped = { at: 'workflow-steps skip completed skipped' };

    expect(await tree('r1')).toEqual({
      at: 'workflow-runs cargo waiting-children',
      below: [skipped, { ...waits('Weigh'), below: [waits('crate 0'), waits('crate 1')] }],
    });

    await use.save('r1', 2, { tree: [ends('weigh[1]', 'weigh')] });
    expect((await tree('r1'))?.below?.[1]?.below).toEqual([
      waits('crate 0'),
      { at: 'workflow-steps crate 1 completed succeeded' },
    ]);

    await use.end('r1', 3, { tree: [ends('weigh[0]', 'weigh'), ends('weigh')] });
    expect(await tree('r1')).toEqual({
      at: 'workflow-runs cargo completed succeeded',
      below: [
        skipped,
        {
          at: 'workflow-steps Weigh completed succeeded',
          below: [0, 1].map((i) => ({ at: `workflow-steps crate ${i} completed succeeded` })),
        },
      ],
    });
  });

  it('lists failed entries as failed, with the reason', async () => {
    await use.begin('r1');
    await use.save('r1', 1, { tree: [begins('weigh'), begins('weigh[0]', 'weigh')] });

    await use.end('r1', 2, {
      status: { to: 'failed', keepSec: 60 },
      reason: 'weigh: too heavy',
      tree: [
        ends('weigh[0]', 'weigh', { ends: 'failed', reason: 'too heavy' }),
        ends('weigh', '', { ends: 'failed', reason: 'an item failed' }),
      ],
    });

    expect(await tree('r1')).toEqual({
      at: 'workflow-runs cargo failed weigh: too heavy',
      below: [
        {
          at: 'workflow-steps weigh failed an item failed',
          below: [{ at: 'workflow-steps weigh[0] failed too heavy' }],
        },
      ],
    });
    const waiting = [queues.runs, queues.runSteps].map(({ name }) => keys.queue(name, 'waiting-children'));
    expect(await use.redis.exists(waiting)).toBe(0);
  });

  it('replaces an iteration by the next, whether it failed or not', async () => {
    const round = ['weigh[0]', 'weigh[1]'];
    await use.begin('r1');
    await use.save('r1', 1, {
      tree: [
        begins('weigh'),
        begins('weigh[0]', 'weigh', { ends: 'failed', reason: 'too heavy' }),
        begins('weigh[1]', 'weigh', { ends: 'succeeded' }),
      ],
    });

    await use.save('r1', 2, { tree: round.map((path) => begins(path, 'weigh', { again: true })) });

    const waiting = {
      at: 'workflow-runs cargo waiting-children',
      below: [{ ...step(), below: round.map((p) => step('', p)) }],
    };
    expect(await tree('r1')).toEqual(waiting);
    await use.save('r1', 3, { tree: round.map((path) => ends(path, 'weigh')) });
    expect((await tree('r1'))?.below?.[0]?.below).toEqual(
      round.map((path) => ({ at: `workflow-steps ${path} completed succeeded` })),
    );
  });

  it('can be walked from any entry to its root by parent references', async () => {
    await use.begin('r:1');
    await use.save('r:1', 1, { tree: [begins('weigh'), begins('weigh[0]', 'weigh')] });
    await use.accept('j', 'r:1', 'weigh[0]');

    const up = async (queue: string, id: string): Promise<string[]> => {
      const opts = (await use.redis.hget(`${queue}:${id}`, 'opts')) ?? '{}';
      const { parent } = JSON.parse(opts) as { parent?: { queue: string; id: string } };
      return [id, ...(parent ? await up(parent.queue, parent.id) : [])];
    };
    const [entry = ''] = await use.redis.zrange(keys.queue('jobs', 'prioritized'), 0, '0');

    expect(await up(`${shardTag(shard)}:jobs`, entry)).toEqual([entry, 'run-r~1~weigh[0]', 'run-r~1~weigh', 'run-r~1']);
  });

  it('is removed with its run; other runs keep theirs', async () => {
    const all = [
      begins('weigh'),
      begins('weigh[0]', 'weigh', { ends: 'succeeded' }),
      ends('weigh', '', { reason: 'no' }),
    ];
    for (const id of ['r1', 'r2']) {
      await use.begin(id);
      await use.end(id, 1, { steps: new Map([['weigh', {}]]), tree: [...all, begins('left')] });
    }
    const others = (await use.redis.keys('*workflow-*run-r2*')).sort();

    await use.store.runs.remove('*', 'r1');

    expect(await tree('r1')).toBeUndefined();
    expect(await use.redis.keys('*workflow-[rs]*run-r1*')).toEqual([]);
    expect((await use.redis.keys('*workflow-*run-r2*')).sort()).toEqual(others);
    const sets = (await use.redis.keys('*:workflow-[rs]*')).filter((name) =>
      /:workflow-\w+:(completed|failed|waiting-children)$/.test(name),
    );
    const members = await Promise.all(sets.map((name) => use.redis.zrange(name, 0, '-1')));
    expect([...new Set(members.flat())].sort()).toEqual(['run-r2', 'run-r2~left', 'run-r2~weigh', 'run-r2~weigh[0]']);
  });
});

describe('the job of a step in the board', () => {
  const below = async () => (await tree('r1'))?.below;

  beforeEach(async () => {
    await use.begin('r1');
    await use.save('r1', 1, { tree: [begins('weigh')] });
  });

  it('is a child of the step in every queue until it ends', async () => {
    await use.accept('j', 'r1', 'weigh');
    expect(await below()).toEqual([step('jobs job.default prioritized')]);

    await use.store.jobs.admit('j', admission);
    expect(await below()).toEqual([step('jobs-waiting job.default delayed')]);

    await use.store.jobs.claim(claim(''));
    expect(await below()).toEqual([step('jobs-in-flight job.default delayed')]);

    await use.store.jobs.move('*', 'j', 'start');
    expect(await below()).toEqual([step('jobs-in-flight job.default delayed')]);

    await use.store.jobs.move('*', 'j', 'retry', {
      queueEntries: [{ queue: 'jobs', suffix: 'retry-1', delay_ms: 60_000 }],
    });
    expect(await below()).toEqual([step('jobs job.default delayed')]);

    await use.store.jobs.move('*', 'j', 'cancel');
    expect(await below()).toEqual([step()]);
  });

  it('is a child of the step while it is held and after it is requeued', async () => {
    await use.accept('j', 'r1', 'weigh', {
      next: { event: 'hold', extras: { park: { queue: 'jobApprovals', forMs: 60_000 } } },
    });
    expect(await below()).toEqual([step('jobs-held job.default delayed')]);

    const job = await use.store.jobs.load('j');
    await use.store.jobs.requeue({ id: 'j', updated_at: job?.updated_at ?? 0 }, 'again', 10);

    expect(await below()).toEqual([step('jobs job.default prioritized')]);

    // Policy changed while it waited for a worker.
    await use.store.jobs.move('*', 'j', 'release');
    await use.store.jobs.admit('j', { ...admission, set: { safety_snapshot: 'old' } });
    expect((await use.store.jobs.claim(claim('new'))).jobs).toEqual([]);
    expect(await below()).toEqual([step('jobs job.default prioritized')]);
  });

  it('does not replace the next job of the step when it ends late', async () => {
    await use.accept('old', 'r1', 'weigh');
    await dispatch('old');
    await use.accept('new', 'r1', 'weigh');
    expect((await below())?.[0]?.below).toEqual([
      { at: 'jobs job.default prioritized' },
      { at: 'jobs-in-flight job.default delayed' },
    ]);

    await use.store.jobs.move('*', 'old', 'succeed');
    await use.store.jobs.move('*', 'old', 'quarantine');

    expect(await below()).toEqual([step('jobs job.default prioritized')]);
  });

  it('has ended, and so has the step', async () => {
    await use.accept('j', 'r1', 'weigh');
    await dispatch('j');
    await use.store.jobs.move('*', 'j', 'succeed');
    await use.save('r1', 2, { tree: [ends('weigh')] });

    expect(await below()).toEqual([{ at: 'workflow-steps weigh completed succeeded' }]);
  });
});

describe('flows in the board', () => {
  it('are removed with their steps after their retention; the runs are kept', async () => {
    for (const id of ['old', 'live']) {
      await use.begin(id);
      await use.save(id, 1, { tree: [begins('weigh'), ends('weigh'), begins('stow')] });
    }
    await use.end('old', 2);
    const sweep = (sec: number) => use.store.runIndex.sweepFlows({ completed: sec, failed: sec }, 100);

    expect([await sweep(60), (await tree('old'))?.below?.length]).toEqual([0, 2]);
    expect(await sweep(0)).toBe(1);

    expect([await tree('old'), await use.store.runs.header('old')]).toMatchObject([undefined, { status: 'succeeded' }]);
    expect((await tree('live'))?.below).toHaveLength(2);
    expect(await use.redis.keys(keys.queue('workflow-steps', 'run-old*'))).toEqual([]);
  });
});
