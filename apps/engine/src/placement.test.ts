import { changeDocument } from '@svc/settings';
import { keys } from '@svc/store';
import { eventually } from '@svc/testing';
import type { EnginePlan } from './engine.testing';
import { useEngine } from './use-engine.testing';

const use = useEngine({
  policy: `
version: '1'
default_decision: allow
rules:
  - id: no-wipe
    match: { topics: [job.wipe] }
    decision: deny
    reason: never
`,
});

/** An engine that knows the worker, and whose policy is in effect in Redis, which is empty before each test. */
async function start(plan: EnginePlan = {}) {
  const engine = await use.start(plan);
  const [snapshot] = await engine.ctx.kernel.listSnapshots();
  await eventually(async () => expect(await use.store.redis.get(keys.policyInEffect())).toBe(snapshot));
  await eventually(() => engine.registry.has('w1'));
  return engine;
}
const job = (id: string) => use.store.jobs.load(id);
const decisions = (id: string) => use.store.jobs.decisions(id, 10);

describe('the job of a step', () => {
  it('is dispatched by the write that accepts it, with one decision of policy', async () => {
    await start();

    const id = await use.submitRun({ weigh: { topic: 'job.weigh', input: { kg: 7 } } });

    expect((await use.ended(id, 'succeeded')).output).toEqual({ echo: { kg: 7 } });
    expect(await job(`${id}:weigh@1`)).toMatchObject({ decided: 'submission', worker_id: 'w1', attempts: 1 });
    expect(await decisions(`${id}:weigh@1`)).toMatchObject([{ decision: 'ALLOW', source: 'gateway' }]);
  });

  it('goes to the scheduler when policy does not permit it, which denies it', async () => {
    await start();

    const id = await use.submitRun({ wipe: { topic: 'job.wipe' } });

    expect((await use.ended(id, 'denied')).error?.message).toMatch(/never/);
    expect((await job(`${id}:wipe@1`))?.decided).toBeUndefined();
  });

  it('goes to the scheduler when another policy is in effect than the one that permitted it', async () => {
    const engine = await start();
    // As if a policy was published that this engine has not loaded yet.
    const [snapshot] = await engine.ctx.kernel.listSnapshots();
    await use.store.redis.set(keys.policyInEffect(), 'newer');

    const id = await use.submitRun({ weigh: { topic: 'job.weigh' } });

    await use.ended(id, 'succeeded');
    expect((await job(`${id}:weigh@1`))?.decided).toBeUndefined();
    expect(await decisions(`${id}:weigh@1`)).toMatchObject([
      { source: 'scheduler' },
      { source: 'gateway', policy_snapshot: expect.stringContaining(snapshot ?? '') as string },
    ]);
  });

  it('goes to the scheduler when its input does not match the schema of its topic', async () => {
    const engine = await use.start({ idle: true });
    const schema = { type: 'object', required: ['kg'] };
    await use.store.schemas.write('*', { id: 'weight', document: schema, maxSchemas: 0, nowUs: 1 });
    const topics = { 'job.*': { pool: 'main' }, 'job.weigh': { pool: 'main', input_schema_id: 'weight' } };
    await changeDocument(engine.ctx, { scope: 'system', scope_id: 'topics' }, () => ({ data: topics }));
    await start({ env: { schemaEnforcement: 'enforce' } });

    const [fits, differs] = [
      await use.submitRun({ weigh: { topic: 'job.weigh', input: { kg: 7 } } }),
      await use.submitRun({ weigh: { topic: 'job.weigh', input: { lb: 7 } } }),
    ];

    await use.ended(fits, 'succeeded');
    // The scheduler of the tests only warns.
    await use.ended(differs, 'succeeded');
    expect((await job(`${fits}:weigh@1`))?.decided).toBe('submission');
    expect((await job(`${differs}:weigh@1`))?.decided).toBeUndefined();
  });

  it('goes to the scheduler with WORKFLOW_ENGINE_DISPATCH_AT_SUBMISSION=false', async () => {
    await start({ env: { dispatchAtSubmission: false } });

    const id = await use.submitRun({ weigh: { topic: 'job.weigh' } });

    await use.ended(id, 'succeeded');
    expect((await job(`${id}:weigh@1`))?.decided).toBeUndefined();
  });
});
