import type { ConfigDocument } from './config.repository';
import type { Admission } from './index';
import { keys } from './keys';
import { useStore, waitingPlan } from './store.testing';

const use = useStore();
const worker = { id: 'w1', pool: 'p', max: 8 };
const admission = (over: Partial<Admission> = {}): Admission => ({ ...waitingPlan, set: {}, ...over });
const state = async (id: string) => (await use.store.jobs.load(id))?.state;
/** The pools of the set; undefined without a set. */
const open = async () => {
  const members = (await use.redis.smembers(keys.openPools())).sort();
  return members.length === 0 ? undefined : members.filter((name) => name !== '');
};

let revision = 0;
beforeEach(() => (revision = 0));
const write = (data: object, id = 'default') => {
  const document = { scope: 'system', scope_id: id, data, revision: revision + 1, updated_at: '', meta: {} };
  return use.store.config.replace(document as unknown as ConfigDocument, revision++);
};
const pools = (statuses: Record<string, string | undefined>) => {
  const entries = Object.entries(statuses).map(([name, status]) => [name, status === undefined ? null : { status }]);
  return { pools: { topics: {}, pools: Object.fromEntries(entries) as object } };
};

describe('the pools that may get jobs', () => {
  it('are written with the document that says so, and with no other', async () => {
    await write(pools({ p: 'draining', q: 'inactive', r: 'active', s: undefined }));
    expect(await open()).toEqual(['r', 's']);

    revision = 0;
    await write(pools({ r: 'draining' }), 'other');
    expect(await open()).toEqual(['r', 's']);
  });

  it('include those that only a topic names', async () => {
    await write({ pools: { topics: { 'job.a': 'p', 'job.b': ['q', 'r'] }, pools: { r: { status: 'inactive' } } } });

    expect(await open()).toEqual(['p', 'q']);
  });

  it.each([
    [{}],
    [{ pools: null }],
    [{ pools: [] }],
    [{ pools: { topics: {}, pools: 'x' } }],
    [{ pools: { pools: { p: 1 } } }],
  ])('are not limited by a document with %j, whose table no process can read', async (data) => {
    await write(pools({ p: 'draining' }));
    await write(data);

    expect(await open()).toBeUndefined();
  });

  it('are restored from a document that was stored without them', async () => {
    await write(pools({ p: 'draining', q: 'active' }));
    await use.redis.del(keys.openPools());

    await use.store.config.refreshOpenPools();

    expect(await open()).toEqual(['q']);
    await use.redis.del(keys.config('system', 'default'));
    await use.store.config.refreshOpenPools();
    expect(await open()).toBeUndefined();
  });

  it.each([
    ['drains', pools({ p: 'draining' })],
    ['was deleted', pools({ q: 'active' })],
  ])('do not include one that %s: no script admits to it, claims for it or dispatches to it', async (_, data) => {
    await write(pools({ p: 'active', q: 'active' }));
    await use.accept('a');
    await use.store.jobs.admit('a', admission());
    await use.accept('b');
    await write(data);

    const claim = () =>
      use.store.jobs.claim({ worker, lanes: ['job.default'], dispatchIds: ['c1'], licenseCap: 0, snapshot: '' });
    expect(await claim()).toMatchObject({ jobs: [], isFull: false });
    expect(await use.store.jobs.admit('b', admission({ worker, lane: { ...waitingPlan.lane, id: 'job.b' } }))).toEqual({
      kind: 'waiting',
      reason: 'no_pool_mapping',
    });
    expect([await state('a'), await state('b')]).toEqual(['PENDING', 'PENDING']);

    await write(pools({ p: 'active' }));
    expect((await claim()).jobs.map(({ id }) => id)).toEqual(['a']);
  });

  it('matter not for a dispatch that is repeated, because its worker may have received it', async () => {
    await use.accept('a');
    await use.store.jobs.admit('a', admission({ worker }));
    await use.store.jobs.move('*', 'a', 'rollBack');
    await write(pools({ q: 'active' }));
    expect(await use.store.index.hasJobsInPool('p')).toBe(true);

    const repeated = await use.store.jobs.admit('a', admission({ worker, isRepeat: true }));

    expect(repeated).toEqual({ kind: 'dispatched', attempt: 1 });
  });

  it('and all others have jobs until the last one of their workers has ended', async () => {
    for (const id of ['a', 'b']) {
      await use.accept(id, { tenant: id });
      await use.store.jobs.admit(id, admission({ worker: { ...worker, pool: id } }));
    }
    expect(await use.store.index.hasJobsInPool('a')).toBe(true);

    await use.store.jobs.move('*', 'a', 'succeed');

    expect(await use.store.index.hasJobsInPool('a')).toBe(false);
    expect(await use.store.index.hasJobsInPool('b')).toBe(true);
  });

  it('have open jobs counted by topic', async () => {
    for (const id of ['a', 'b', 'c']) await use.accept(id, { topic: `job.${id}` });
    await use.store.jobs.move('*', 'b', 'cancel');

    expect(await use.store.index.countOpen(new Set(['job.a', 'job.b']), 100)).toBe(1);
  });
});
