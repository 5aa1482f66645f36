import { keys } from './keys';
import type { RunFilter } from './run.index';
import { runRetention, useRuns } from './run.testing';

const use = useRuns();
const index = () => use.store.runIndex;
const ids = (runs: { id: string }[]) => runs.map(({ id }) => id);
const page = async (filter: RunFilter = {}, limit = 10, cursorUs?: number) =>
  ids((await index().page('acme', filter, limit, cursorUs)).items);

/** Puts a run at a time in the index of its status, in which its workflow's list is the same. */
const at = async (id: string, atUs: number) => {
  await use.redis.zadd(keys.runsInStatus('acme', 'pending'), atUs, id);
  await use.redis.zadd(keys.runsOfWorkflow('acme', 'cargo'), atUs, id);
};

describe('a page of runs', () => {
  it('lists the last updated first, for one tenant', async () => {
    await use.workflow('theirs', 'rival');
    await use.create('x', { tenant: 'rival', workflow: { id: 'theirs', version: 1 } });
    await use.begin('a');
    await use.begin('b');
    await use.save('a', 1, { header: { note: 'new' } });

    expect(await page()).toEqual(['a', 'b']);
    expect((await index().page('acme', {}, 10)).items[0]).toMatchObject({
      id: 'a',
      tenant: 'acme',
      workflow_id: 'cargo',
      revision: 2,
      status: 'pending',
      header: { note: 'new' },
    });
  });

  it('is filtered by workflow, status, team and time before pagination', async () => {
    await use.begin('a', { teamId: 'red' });
    await use.begin('b', { workflow: { id: 'other', version: 1 }, teamId: 'red' });
    await use.begin('c');
    await use.end('c');
    const [c, b] = (await index().page('acme', {}, 10)).items.map(({ updated_at }) => updated_at);

    expect(await page({ workflowId: 'cargo' }, 1)).not.toContain('b');
    expect(await page({ workflowId: 'cargo', statuses: ['pending'] })).toEqual(['a']);
    expect(await page({ statuses: ['succeeded', 'failed'] })).toEqual(['c']);
    expect(await page({ teamId: 'red' })).toEqual(['b', 'a']);
    expect(await page({ afterUs: Number(b) })).toEqual(['c', 'b']);
    expect(await page({ beforeUs: Number(c) - 1 })).toEqual(['b', 'a']);
    expect(await page({ statuses: [] })).toEqual([]);
  });

  it.each([{}, { workflowId: 'cargo' }])(
    'comes with all of the second it is cut in, and skips none: %j',
    async (filter) => {
      for (const [i, id] of ['a', 'b', 'c', 'd', 'e'].entries()) {
        await use.begin(id);
        await at(id, ([9, 7, 7, 7, 5][i] as number) * 1e6 + i);
      }

      const first = await index().page('acme', filter, 2);
      const second = await index().page('acme', filter, 2, Number(first.nextCursorSec) * 1e6 + 999_999);

      expect([ids(first.items), first.nextCursorSec]).toEqual([['a', 'd', 'c', 'b'], 6]);
      expect([ids(second.items), second.nextCursorSec]).toEqual([['e'], null]);
    },
  );

  it('continues beyond one batch of reads', async () => {
    await Promise.all(Array.from({ length: 230 }, (_, i) => use.create(`r${i}`, i < 3 ? { teamId: 'red' } : {})));

    expect(await page({}, 500)).toHaveLength(230);
    expect((await page({ teamId: 'red' })).sort()).toEqual(['r0', 'r1', 'r2']);
  });
});

describe('runs of a workflow', () => {
  it('are listed last created first, and counted until they end', async () => {
    await use.begin('a');
    await use.begin('b');
    await use.begin('c', { workflow: { id: 'other', version: 1 } });
    await use.end('a');

    expect(ids(await index().ofWorkflow('acme', 'cargo', 100))).toEqual(['b', 'a']);
    expect(ids(await index().ofWorkflow('acme', 'cargo', 1))).toEqual(['b']);
    expect(await Promise.all([index().active('acme'), index().activeOf('acme', 'cargo'), index().allActive()])).toEqual(
      [2, 1, 2],
    );
  });
});

describe('the scan', () => {
  it('returns open runs, least recently scanned first', async () => {
    for (const id of ['a', 'b', 'c']) await use.begin(id);
    await use.end('b');
    const laterMs = Date.now() + 10_000;

    expect(await index().toScan(laterMs, 10)).toEqual(['a', 'c']);
    await index().scanned(['a', 'b'], laterMs - 1);
    expect(await index().toScan(laterMs, 10)).toEqual(['c', 'a']);
    expect(await index().toScan(laterMs, 1)).toEqual(['c']);
    expect(await index().toScan(1, 10)).toEqual([]);
  });
});

describe('runs past their retention', () => {
  it('are removed from every list; runs with unlimited retention are kept', async () => {
    await use.begin('a');
    await use.begin('b');
    await use.end('a', 1, {
      steps: new Map([['weigh', {}]]),
      tree: [
        { path: 'weigh', parent: '', name: 'weigh', begins: true, ends: 'failed', reason: 'too heavy' },
        { path: 'weigh[0]', parent: 'weigh', name: 'weigh[0]', begins: true, ends: 'succeeded' },
      ],
    });
    await use.end('b', 1, { status: { to: 'denied', keepSec: 0 } });
    // As Redis expires them, before they are forgotten.
    await use.redis.del(keys.run('a'), keys.runSteps('a'), keys.runTimeline('a'));

    expect(await index().forget(Date.now(), 10)).toBe(0);
    expect(await index().forget(Date.now() + (runRetention + 60) * 1_000, 10)).toBe(1);

    expect(await use.redis.zrange(keys.runsInStatus('acme', 'succeeded'), 0, '-1')).toEqual([]);
    expect(await use.redis.zrange(keys.runsOfWorkflow('acme', 'cargo'), 0, '-1')).toEqual(['b']);
    expect(ids(await index().ofWorkflow('acme', 'cargo', 10))).toEqual(['b']);
    expect(await use.redis.exists(keys.endedRuns())).toBe(0);
    expect(await use.redis.ttl(keys.run('b'))).toBe(-1);
    expect(await use.redis.keys('*workflow-steps:*')).toEqual([]);
    expect(await use.redis.zrange(keys.queue('workflow-runs', 'completed'), 0, '-1')).toEqual(['run-b']);
  });
});
