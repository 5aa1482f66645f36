import { DatasetRepository, EvalRunRepository } from '@svc/evals';
import { eventually } from '@svc/testing';
import { randomUUID } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import type { Engine } from '../engine.testing';
import { useEngine } from '../use-engine.testing';

describe('the queue eval-runs', () => {
  const use = useEngine();
  const audit = { tenant: 'acme', entry: '{}' };
  const count = 1_200;

  /** Stores a dataset and a queued run of it, as the gateway does. @returns the id of the run */
  async function queueRun({ platform: { store } }: Engine, kind: 'run' | 'comparison' = 'run'): Promise<string> {
    const [dataset, id] = [randomUUID(), randomUUID()];
    const entries = Array.from({ length: count }, (_, i) => ({ id: `e${i}`, input: { topic: `job.x${i % 3}` }, expected_decision: 'ALLOW', source: 'manual' })); // prettier-ignore
    const head = { description: '', created_by: 'ann', entry_count: count, content_hash: 'h' };
    const bytes = gzipSync(JSON.stringify(entries));
    await new DatasetRepository(store).write({ id: dataset, tenant: 'acme', name: 'set', version: 0, head, entries: bytes, audit }); // prettier-ignore
    const current = { view: { kind: 'current' as const } };
    const content = 'rules: [{ id: ban, decision: deny, match: { topics: [job.x1] } }]';
    const candidate = { view: { kind: 'content' as const }, candidate: { id: 'secops/ban', content } };
    const policies = kind === 'run' ? [current] : [current, candidate];
    const outcome = await open(store).start({
      ...{ id, tenant: 'acme', kind, dataset, policies, queued: true, audit },
      head: { dataset_name: 'set', dataset_version: 1, total: count, policies: policies.map(({ view }) => view) },
    });
    expect(outcome.kind).toBe('started');
    return id;
  }
  const open = (store: Engine['platform']['store']) => new EvalRunRepository(store, 3_600_000);

  it('evaluates a run with every entry, and a comparison with both policies', async () => {
    const engine = await use.start();
    const runs = open(engine.platform.store);
    const [run, comparison] = [await queueRun(engine), await queueRun(engine, 'comparison')];

    await eventually(
      async () => {
        expect(await runs.load(run)).toMatchObject({
          status: 'completed',
          evaluated: count,
          summary: { passed: count },
        });
        expect(await runs.load(comparison)).toMatchObject({
          status: 'completed',
          counts: { total: count, escalated: count / 3, broken: count / 3 },
        });
      },
      { withinMs: 20_000 },
    );
    expect(engine.defects).toEqual([]);
  });

  it('continues a run after a crash of the engine that began it', async () => {
    const idle = await use.start({ idle: true });
    const id = await queueRun(idle);
    const runs = open(idle.platform.store);
    // The engine died after its first progress.
    await runs.move(id, 'begin');
    await runs.move(id, 'progress', { evaluated: '512' });
    await use.stop(idle);

    const engine = await use.start();

    await eventually(
      async () => expect(await open(engine.platform.store).load(id)).toMatchObject({ status: 'completed' }),
      {
        withinMs: 20_000,
      },
    );
  });

  it('leaves a run alone that was removed or has ended', async () => {
    const idle = await use.start({ idle: true });
    const runs = open(idle.platform.store);
    const [removed, failed] = [await queueRun(idle), await queueRun(idle)];
    await runs.remove({ id: removed, tenant: 'acme', kind: 'run' }, audit);
    await runs.move(failed, 'fail', { error: 'x' });
    await use.stop(idle);

    const engine = await use.start();

    const { redis } = engine.platform.store;
    await eventually(async () => {
      expect(await redis.llen('{s0}:eval-runs:wait')).toBe(0);
      expect(await redis.llen('{s0}:eval-runs:active')).toBe(0);
    });
    expect(await open(engine.platform.store).load(failed)).toMatchObject({ status: 'failed', error: 'x' });
    expect(await open(engine.platform.store).load(removed)).toBeUndefined();
    expect(engine.defects).toEqual([]);
  });
});
