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

/** What the gateway answers. */
function explain(id: string, tenant = 'acme'): Promise<ExplainView> {
  const { ctx } = use.engine;
  const topics = openTopics({ ...ctx, events: topicLog(silentLogger), enforcement: undefined });
  const settings = { policyFailMode: 'closed', approvalTtlMs: 60_000, readinessRequired: false, workerTtlMs: 30_000 } as const; // prettier-ignore
  // The engines of these tests know no pools; those of the scheduler beside them are these.
  const main = { name: 'main', requires: [], status: 'active', description: '' } as const;
  const pools = () => ({ topics: { 'job.*': ['main'] }, pools: { main: { ...main, requires: [] } } });
  const license = () => ({ maxWorkers: -1, maxConcurrentJobs: -1, maxPromptChars: -1 });
  return readRunExplanation({ ...ctx, fleet: { ...ctx.fleet, pools }, topics, license, settings }, tenant, id);
}
const blocked = (id: string, wanted: object): Promise<ExplainView> =>
  eventually(
    async () => {
      const told = await explain(id);
      expect(told.blocked_by).toMatchObject(wanted);
      return told;
    },
    { withinMs: 15_000 },
  );

describe('why a run is where it is', () => {
  it('no engine takes its first pass', async () => {
    await use.start({ idle: true });
    const id = await use.runOf({ a: { topic: 'job.long' } });
    await use.store.redis.del(...(await use.store.redis.keys('svc:instance:engine:*')));

    const told = await explain(id);

    expect(told).toMatchObject({ status: 'pending', blocked_by: { kind: 'engine', what: 'no engine runs' } });
  });

  it('its job waits for a pool that offers what it demands, while another step’s job runs', async () => {
    await use.start();

    const id = await use.runOf({
      works: { topic: 'job.long' },
      stuck: { topic: 'job.long', meta: { requires: ['gpu'] } },
    });

    const told = await blocked(id, { kind: 'job', step_id: 'stuck', job_blocked_by: 'capability' });
    await eventually(async () => {
      const { waits } = await explain(id);
      const works = waits.find(({ step_id }) => step_id === 'works');
      expect(works).toMatchObject({ under_way: true, owner: { kind: 'worker', id: 'w1' } });
    });
    expect(told.checks.find(({ outcome }) => outcome === 'blocks')?.check).toBe('steps');
    await use.tell(id, { kind: 'cancel' });
    await use.ended(id, 'cancelled');
  });

  it('a gate is open, a timer runs, a signal is awaited: each with what clears it', async () => {
    await use.start();

    const id = await use.runOf({
      sign: { type: 'approval', gate: { expires_sec: 600, on_expiry: 'approve' } },
      rest: { type: 'delay', delay_sec: 300 },
      tide: { type: 'signal', signal: 'high' },
    });

    const told = await blocked(id, { kind: 'approval', owner: { kind: 'gate', id: 'sign' } });
    const { started_at_ms: began = 0 } = (await use.state(id)).steps['rest'] ?? {};
    const clears = Object.fromEntries(told.waits.map(({ kind, clears_at }) => [kind, clears_at]));
    expect(clears).toMatchObject({ timer: new Date(began + 300_000).toISOString(), signal: null });
    expect(Date.parse(clears['approval'] ?? '')).toBeGreaterThanOrEqual(began + 600_000);
    // The step waits a moment before the job of its gate is there.
    await eventually(async () => {
      const { waits } = await explain(id);
      expect(waits.find(({ kind }) => kind === 'approval')?.job_state).toBe('APPROVAL_REQUIRED');
    });
  });

  it('it is over: which step failed it', async () => {
    await use.start();
    const id = await use.runOf({ a: { topic: 'job.break' }, b: { topic: 'job.long', depends_on: ['a'] } });
    await use.ended(id, 'failed');

    const told = await explain(id);

    expect(told).toMatchObject({ status: 'failed', blocked_by: null, failed_step: 'a', waits: [] });
    expect(told.ended_by?.owner).toEqual({ kind: 'step', id: 'a' });
    expect(told.steps.map(({ step_id, decision }) => [step_id, decision])).toEqual([['a', 'ALLOW'], ['b', undefined]]);
  }); // prettier-ignore

  it('is told to its own tenant only, and of what is there', async () => {
    await use.start({ idle: true });
    const id = await use.runOf({ a: { topic: 'job.long' } });

    await expect(explain(id, 'globex')).rejects.toThrow('tenant access denied');
    await expect(explain('nope')).rejects.toThrow('not found');
  });
});
