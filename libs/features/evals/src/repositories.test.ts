import { useRedisStore } from '@svc/fixtures/store';
import { randomBytes, randomUUID } from 'node:crypto';
import { compressJson } from './compressed-json';
import { DatasetRepository } from './dataset.repository';
import { EvalRunRepository, type RunStart } from './run.repository';

const keepMs = 3_600_000;
const audit = { tenant: 'acme', entry: '{"action":"x"}' };

describe('the storage of a tenant’s evaluations', () => {
  const use = useRedisStore();
  /** @param maxBytes of the tenant */
  const open = (maxBytes = 100_000) => ({
    datasets: new DatasetRepository(use.store, maxBytes),
    runs: new EvalRunRepository(use.store, keepMs, maxBytes),
  });
  const head = { description: '', created_by: 'ann', entry_count: 1, content_hash: 'h' };
  const write = async (bytes = 10, { tenant = 'acme', name = 'set' } = {}, { datasets } = open()) => {
    const id = randomUUID();
    const entries = randomBytes(bytes);
    return { id, ...(await datasets.write({ id, tenant, name, version: 0, head, entries, audit })) };
  };
  const start = async (dataset: string, over: Partial<RunStart> = {}, { runs } = open()) => {
    const id = randomUUID();
    const run = { dataset_name: 'set', dataset_version: 1, total: 1, policies: [{ kind: 'current' as const }] };
    const policies = [{ view: { kind: 'current' as const } }];
    const outcome = await runs.start({ id, tenant: 'acme', kind: 'run', dataset, head: run, policies, queued: true, audit, ...over }); // prettier-ignore
    return { id, ...outcome };
  };
  const result = [{ snapshot: 's', outcomes: [] }];
  const used = async () => Number(await use.redis.get('{s0}:evals:used:acme'));

  it('is limited: a dataset that does not fit is not stored, and leaves nothing', async () => {
    const small = open(1_000);
    const first = await write(600, {}, small);

    expect(await write(600, {}, small)).toMatchObject({ kind: 'full', of: 'bytes' });
    expect(await write(600, { tenant: 'globex' }, small)).toMatchObject({ kind: 'written' });
    expect(await used()).toBe(600);
    await small.datasets.remove({ id: first.id, tenant: 'acme' }, keepMs, audit);
    expect(await used()).toBe(0);
    expect(await write(600, {}, small)).toMatchObject({ kind: 'written', version: 1 });
  });

  it('counts results, entries that stay for runs, and frees the bytes when they expire', async () => {
    const { datasets, runs } = open();
    const dataset = await write(500);
    const run = await start(dataset.id, { queued: false });
    expect(await runs.complete(run.id, 'a', result, {})).toBe('moved');
    const withResult = await used();
    expect(withResult).toBeGreaterThan(500);

    await datasets.remove({ id: dataset.id, tenant: 'acme' }, keepMs, audit);

    expect(await used()).toBe(withResult);
    expect(await use.redis.pttl(`{s0}:evals:entries:${dataset.id}`)).toBeGreaterThan(0);
    const members = await use.redis.zrange('{s0}:evals:stored:acme', 0, '-1');
    for (const member of members) await use.redis.zadd('{s0}:evals:stored:acme', 1, member);
    await write(10);
    expect(await used()).toBe(10);
  });

  it('a run whose result does not fit does not complete; a tenant without room starts none', async () => {
    const full = open(60);
    const dataset = await write(50, {}, full);
    const run = await start(dataset.id, { queued: false }, full);

    expect(await full.runs.complete(run.id, 'a', result, {})).toBe('full');
    expect(await full.runs.move(run.id, 'fail', { error: 'full' })).toBe('moved');
    expect(await use.redis.keys('*evals:result*')).toEqual([]);
    expect(await start(dataset.id, {}, open(50))).toMatchObject({ kind: 'full' });
  });

  it('runs of a dataset exclude each other until one ends, is removed, or has lost its lock', async () => {
    const { runs } = open();
    const { id: dataset } = await write();
    const first = await start(dataset);

    expect(await start(dataset)).toMatchObject({ kind: 'busy' });
    expect(await runs.move(first.id, 'abandon')).toBe('refused');
    await runs.move(first.id, 'fail', { error: 'x' });
    const second = await start(dataset);
    expect(second.kind).toBe('started');
    expect(await runs.remove({ id: second.id, tenant: 'acme', kind: 'run' }, audit)).toBe(true);
    const third = await start(dataset);
    await use.redis.del(`{s0}:evals:lock:${dataset}`);
    const fourth = await start(dataset);
    expect([third.kind, fourth.kind]).toEqual(['started', 'started']);
    expect(await runs.move(third.id, 'begin')).toBe('busy');
    expect(await runs.move(third.id, 'abandon', { error: 'lost' })).toBe('moved');
    expect(await runs.load(third.id)).toMatchObject({ status: 'failed', error: 'lost' });
    // The lock of the fourth run stays.
    expect(await start(dataset)).toMatchObject({ kind: 'busy' });
  });

  it('of two processes that evaluate a run, the first end counts; the other replaces no result', async () => {
    const { runs } = open();
    const { id: dataset } = await write();
    const run = await start(dataset);
    expect([await runs.move(run.id, 'begin'), await runs.move(run.id, 'begin')]).toEqual(['moved', 'moved']);
    const later = [{ snapshot: 'later', outcomes: [] }];

    const ends = [await runs.complete(run.id, 'a', result, {}), await runs.complete(run.id, 'b', later, {})];

    expect(ends).toEqual(['moved', 'refused']);
    expect(await runs.results(run.id)).toEqual(result);
    expect(await use.redis.pttl(`{s0}:evals:result:${run.id}`)).toBeGreaterThan(600_000);
    expect(await runs.policies(run.id)).toBeUndefined();
    expect(await runs.move(run.id, 'fail')).toBe('refused');
  });

  it('a dataset of another tenant is neither evaluated nor removed', async () => {
    const { datasets } = open();
    const { id } = await write();

    expect(await start(id, { tenant: 'globex' })).toMatchObject({ kind: 'missing' });
    expect(await datasets.remove({ id, tenant: 'globex' }, keepMs, audit)).toBe(false);
  });

  it('entries survive compression byte for byte', async () => {
    const text = JSON.stringify([{ id: 'é\u0000\ud83d\ude00', input: {} }]);
    const { datasets } = open();
    const id = randomUUID();
    await datasets.write({
      id,
      tenant: 'acme',
      name: 'set',
      version: 0,
      head,
      entries: await compressJson(text),
      audit,
    });

    expect(await datasets.entriesText(id)).toBe(text);
  });
});
