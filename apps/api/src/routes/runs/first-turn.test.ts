import { heartbeatPacket, subjects } from '@svc/contract';
import { keys } from '@svc/store';
import { toRunState } from '@svc/workflows';
import { eventually } from '@svc/testing';
import { useApi } from '../../api.testing';
import { createRunClient } from './given-runs.testing';

const api = useApi({ env: { WORKFLOW_FOREACH_MAX_ITEMS: '100' } });
const runs = createRunClient(api);
const policy = `
version: '1'
default_decision: allow
rules:
  - id: no-wipe
    match: { topics: [job.wipe] }
    decision: deny
    reason: never
  - id: ask-first
    match: { topics: [job.pay] }
    decision: require_approval
    reason: ask
`;

/** A worker with this many slots. */
async function heartbeat(workerId: string, slots: number): Promise<void> {
  const { bus, registry } = api;
  for (const { id } of registry.routable(Date.now())) registry.markFull(id);
  const head = { trace_id: '', sender_id: workerId, nowUs: Date.now() * 1_000 };
  bus.publish(
    subjects.heartbeat.name,
    heartbeatPacket(head, { worker_id: workerId, pool: 'demo', max_parallel_jobs: slots }),
  );
  await eventually(() => registry.has(workerId));
}

const steps = { weigh: { topic: 'job.default', input: { kg: '${input.kg}' }, timeout_sec: 60 } };
const inbox = (id: string) => api.store.redis.lrange(keys.runInbox(id), 0, -1);
const state = async (id: string) => {
  const loaded = await api.store.runs.load(id);
  if (!loaded) throw new Error(`there is no run ${id}`);
  return toRunState(loaded);
};
const job = (id: string, path = 'weigh') => api.store.jobs.load(`${id}:${path}@1`);
let workers = 0;

beforeAll(() => api.policy(policy), 30_000);
beforeEach(async () => {
  // As the kernel writes it when it loads the policy; Redis is empty before each test.
  const [snapshot = ''] = await api.kernel.listSnapshots();
  await api.store.redis.set(keys.policyInEffect(), snapshot);
  await heartbeat(`w${(workers += 1)}`, 100);
});

describe('the start of a run whose first turn only starts jobs', () => {
  it('stores the run with its job, which is dispatched; no engine is needed', async () => {
    await runs.workflow(steps);

    const id = await runs.run({ kg: 7 });

    expect(await job(id)).toMatchObject({
      worker_id: `w${workers}`,
      attempts: 1,
      decided: 'submission',
      run: id,
      run_path: 'weigh',
    });
    expect(JSON.parse((await api.store.redis.get(keys.context(`${id}:weigh@1`))) ?? '')).toMatchObject({
      context: { kg: 7 },
      tenant_id: 'acme',
    });
    expect((await runs.get(id)).body).toMatchObject({ status: 'running', steps: { weigh: { status: 'running' } } });
    expect(await api.store.runs.timers(id)).toMatchObject([{ member: `${id}:weigh@1#timeout` }]);
    expect([await inbox(id), await api.store.redis.hget(keys.run(id), 'awake')]).toEqual([[], null]);
    const { body } = await api.as('viewer').get(`/api/v1/workflow-runs/${id}/timeline`);
    expect((body as unknown as { type: string }[]).map(({ type }) => type)).toEqual(['run_status', 'step_dispatched']);
  });

  it('uses no time later than that of Redis', async () => {
    await runs.workflow(steps);

    const id = await runs.run();

    const { updated_at: storedUs } = (await api.store.runs.header(id)) ?? { updated_at: 0 };
    const { started_at_ms: startedMs = Infinity } = await state(id);
    expect(startedMs * 1_000).toBeLessThanOrEqual(storedUs);
    const [decision] = await api.store.jobs.decisions(`${id}:weigh@1`, 1);
    expect(decision?.checked_at).toBeLessThanOrEqual((await job(id))?.created_at ?? 0);
  });

  it('adds the job to its lane when no worker has room', async () => {
    await heartbeat(`w${(workers += 1)}`, 1);
    await runs.workflow(steps);

    const [first, second] = [await runs.run(), await runs.run()];

    expect(await job(first)).toMatchObject({ worker_id: `w${workers}` });
    expect(await job(second)).toMatchObject({ parked: 'jobWaiting', waiting_reason: 'pool_overloaded' });
  });

  it.each(['job.wipe', 'job.pay'])('leaves a job that policy does not permit to the scheduler: %s', async (topic) => {
    await runs.workflow({ weigh: { topic } });

    const id = await runs.run();

    expect((await job(id))?.decided).toBeUndefined();
    expect(await api.store.redis.zcard(keys.queue('jobs', 'prioritized'))).toBe(1);
  });

  it('leaves the job to the scheduler when another policy is in effect than the one that permitted it', async () => {
    await api.store.redis.set(keys.policyInEffect(), 'newer');
    await runs.workflow(steps);

    expect((await job(await runs.run()))?.decided).toBeUndefined();
  });

  it('starts the first window of a fan-out, and is continued by an engine when it is larger than one call', async () => {
    const each = { each: { topic: 'job.default', for_each: 'input.items', input: { item: '${item}' } } };
    await runs.workflow(each, { config: { resources: { max_parallel_steps: 80 } } });
    const open = async (id: string) => (await api.store.index.byTrace('acme', id)).length;

    const small = await runs.run({ items: [1, 2, 3] });
    const large = await runs.run({ items: Array.from({ length: 100 }, (_, i) => i) });

    expect([await open(small), await inbox(small)]).toEqual([3, []]);
    expect([await open(large), await inbox(large)]).toEqual([64, ['{"kind":"continue"}']]);
  });

  it('starts one run for concurrent requests with the same key, with one job', async () => {
    await runs.workflow(steps);
    const how = { headers: { 'Idempotency-Key': 'k' } };

    const answers = await Promise.all(Array.from({ length: 8 }, () => runs.start({ kg: 1 }, how)));

    expect(new Set(answers.map(({ body }) => body['run_id'])).size).toBe(1);
    expect(await api.store.redis.keys(keys.job('*'))).toHaveLength(1);
  });
});

describe('the start of a run whose first turn does more', () => {
  const start = '{"kind":"start"}';

  it.each<[string, object]>([
    ['an approval', { ask: { type: 'approval' } }],
    ['a delay', { pause: { type: 'delay', delay_sec: 60 } }],
    ['a condition', { check: { type: 'condition', condition: 'input.kg > 1' }, weigh: { topic: 'job.default', depends_on: ['check'] } }], // prettier-ignore
    ['a job and an approval', { weigh: { topic: 'job.default' }, ask: { type: 'approval' } }],
    ['a step that fails', { weigh: { topic: 'job.default', input: { kg: '${int("seven")}' } } }],
  ])('leaves it to an engine: %s', async (_, definition) => {
    await runs.workflow(definition);

    const id = await runs.run();

    expect([(await state(id)).status, await inbox(id)]).toEqual(['pending', [start]]);
    expect(await api.store.redis.keys(keys.job('*'))).toEqual([]);
  });

  it('leaves it to an engine when an operator has paused the queue of passes', async () => {
    await api.store.redis.hset(keys.queue('workflow-passes', 'meta'), 'paused', '1');
    await runs.workflow(steps);

    const id = await runs.run();

    expect([(await state(id)).status, await inbox(id), await job(id)]).toEqual(['pending', [start], undefined]);
  });

  it('evaluates no policy for a start that is refused', async () => {
    api.license('enterprise', { max_active_workflows: 1 });
    await runs.workflow(steps);
    const first = await runs.run();

    expect((await runs.start()).body).toMatchObject({ code: 'tier_limit_exceeded' });

    expect(await api.store.redis.keys(keys.job('*'))).toEqual([keys.job(`${first}:weigh@1`)]);
  });
});
