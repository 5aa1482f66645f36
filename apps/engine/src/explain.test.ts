import type { ExplainView } from '@svc/contract';
import { silentLogger } from '@svc/runtime';
import { openTopics, topicLog } from '@svc/registry';
import { readRunExplanation } from '@svc/explain';
import { eventually } from '@svc/testing';
import type { Job } from '@svc/worker-sdk';
import { useEngine } from './use-engine.testing';

const use = useEngine({
  topics: {
    'job.long': ({ signal }: Job) =>
      new Promise((_, reject) => signal.addEventListener('abort', () => reject(new Error('stopped')))),
    'job.break': () => {
      throw new Error('it broke');
    },
  },
});

/** The explanation that the gateway would return. */
function explain(id: string, tenant = 'acme'): Promise<ExplainView> {
  const { ctx } = use.engine;
  const topics = openTopics({ ...ctx, events: topicLog(silentLogger), enforcement: undefined });
  const settings = { policyFailMode: 'closed', approvalTtlMs: 60_000, readinessRequired: false, workerTtlMs: 30_000 } as const; // prettier-ignore
  // The engines of these tests have no pools, so the scheduler's pools are used.
  const main = { name: 'main', requires: [], status: 'active', description: '' } as const;
  const pools = () => ({ topics: { 'job.*': ['main'] }, pools: { main: { ...main, requires: [] } } });
  const license = () => ({ maxWorkers: -1, maxConcurrentJobs: -1, maxPromptChars: -1 });
  const registry = { scopeOf: () => undefined };
  const deps = { ...ctx, fleet: { ...ctx.fleet, pools }, topics, license, settings, registry };
  return readRunExplanation(deps, tenant, id);
}
const blocked = (id: string, wanted: object): Promise<ExplainView> =>
  eventually(
    async () => {
      const explanation = await explain(id);
      expect(explanation.blocked_by).toMatchObject(wanted);
      return explanation;
    },
    { withinMs: 15_000 },
  );

describe('the explanation of a run', () => {
  it('says that no engine is running', async () => {
    await use.start({ idle: true });
    const id = await use.submitRun({ a: { topic: 'job.long' } });
    await use.store.redis.del(...(await use.store.redis.keys('svc:instance:engine:*')));

    const explanation = await explain(id);

    expect(explanation).toMatchObject({ status: 'pending', blocked_by: { kind: 'engine', what: 'no engine runs' } });
  });

  it('names a job that waits for a capability while the job of another step runs', async () => {
    await use.start();

    const id = await use.submitRun({
      works: { topic: 'job.long' },
      stuck: { topic: 'job.long', meta: { requires: ['gpu'] } },
    });

    const explanation = await blocked(id, { kind: 'job', step_id: 'stuck', job_blocked_by: 'capability' });
    await eventually(async () => {
      const { waits } = await explain(id);
      const works = waits.find(({ step_id }) => step_id === 'works');
      expect(works).toMatchObject({ under_way: true, owner: { kind: 'worker', id: 'w1' } });
    });
    expect(explanation.checks.find(({ outcome }) => outcome === 'blocks')?.check).toBe('steps');
    await use.postEvent(id, { kind: 'cancel' });
    await use.ended(id, 'cancelled');
  });

  it('names the limit by key that a step waits for, and the jobs that hold its place', async () => {
    await use.start();
    const steps = { a: { topic: 'job.long', concurrency: { key: 'customer-${input.customer}', limit: 1 } } };
    const first = await use.submitRun(steps, { customer: 7 });
    await use.step(first, 'a', 'running');
    const second = await use.submitRun(steps, { customer: 7 });

    await blocked(second, {
      kind: 'job',
      job_blocked_by: 'concurrency_limit',
      what: `1 of 1 places of the concurrency key customer-7 are held by ${first}:a@1`,
    });

    for (const id of [second, first]) {
      await use.postEvent(id, { kind: 'cancel' });
      await use.ended(id, 'cancelled');
    }
  });

  it('lists a pending approval, a timer and a signal, each with the time it clears', async () => {
    await use.start();

    const id = await use.submitRun({
      sign: { type: 'approval', gate: { expires_sec: 600, on_expiry: 'approve' } },
      rest: { type: 'delay', delay_sec: 300 },
      tide: { type: 'signal', signal: 'high' },
    });

    const explanation = await blocked(id, { kind: 'approval', owner: { kind: 'gate', id: 'sign' } });
    const { started_at_ms: began = 0 } = (await use.state(id)).steps['rest'] ?? {};
    const clears = Object.fromEntries(explanation.waits.map(({ kind, clears_at }) => [kind, clears_at]));
    expect(clears).toMatchObject({ timer: new Date(began + 300_000).toISOString(), signal: null });
    expect(Date.parse(clears['approval'] ?? '')).toBeGreaterThanOrEqual(began + 600_000);
    // The step is waiting shortly before the job of its approval exists.
    await eventually(async () => {
      const { waits } = await explain(id);
      expect(waits.find(({ kind }) => kind === 'approval')?.job_state).toBe('APPROVAL_REQUIRED');
    });
  });

  it('names the step that failed an ended run', async () => {
    await use.start();
    const id = await use.submitRun({ a: { topic: 'job.break' }, b: { topic: 'job.long', depends_on: ['a'] } });
    await use.ended(id, 'failed');

    const explanation = await explain(id);

    expect(explanation).toMatchObject({ status: 'failed', blocked_by: null, failed_step: 'a', waits: [] });
    expect(explanation.ended_by?.owner).toEqual({ kind: 'step', id: 'a' });
    expect(explanation.steps.map(({ step_id, decision }) => [step_id, decision])).toEqual([['a', 'ALLOW'], ['b', undefined]]);
  }); // prettier-ignore

  it('is returned only to its own tenant, and only for existing runs', async () => {
    await use.start({ idle: true });
    const id = await use.submitRun({ a: { topic: 'job.long' } });

    await expect(explain(id, 'globex')).rejects.toThrow('tenant access denied');
    await expect(explain('nope')).rejects.toThrow('not found');
  });
});
