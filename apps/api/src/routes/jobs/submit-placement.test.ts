import { heartbeatPacket, subjects } from '@svc/contract';
import { keys } from '@svc/store';
import { eventually } from '@svc/testing';
import { useApi, type Api } from '../../api.testing';

const allowAll = "version: '1'\ndefault_decision: allow\n";

/** Puts a policy into effect, also by the record in Redis, which is empty before each test. */
async function allow(api: Api): Promise<void> {
  await api.policy(allowAll);
  const [snapshot] = await api.kernel.listSnapshots();
  await eventually(async () => expect(await api.store.redis.get(keys.policyInEffect())).toBe(snapshot));
}

/** A worker with one slot. */
async function heartbeat({ bus, registry }: Api, workerId: string, active: number): Promise<void> {
  for (const id of registry.routable(Date.now()).map((worker) => worker.id)) registry.markFull(id);
  const head = { trace_id: '', sender_id: workerId, nowUs: Date.now() * 1_000 };
  const beat = { worker_id: workerId, pool: 'demo', max_parallel_jobs: 1, active_jobs: active };
  bus.publish(subjects.heartbeat.name, heartbeatPacket(head, beat));
  await eventually(() => registry.has(workerId));
}

const submit = async (api: Api) => {
  const { status, body } = await api.as('admin').post('/api/v1/jobs', { prompt: 'hi', topic: 'job.default' });
  expect(status).toBe(200);
  return api.store.jobs.load((body as { job_id: string }).job_id);
};

describe('POST /api/v1/jobs, of a permitted job', () => {
  const api = useApi();
  beforeEach(() => allow(api));
  afterEach(() => api.policy());

  it('adds it to its lane, with the reason for which it waits', async () => {
    const job = await submit(api);

    expect(job).toMatchObject({ parked: 'jobWaiting', waiting_reason: 'no_workers', decided: 'submission' });
    expect(await api.store.redis.exists(keys.queue('jobs', 'prioritized'))).toBe(0);
    expect(await api.metrics()).toContain('svc_scheduler_routing_failures_total{reason="no_workers"');
  });

  it('dispatches it to a worker with room, known from its heartbeats', async () => {
    await heartbeat(api, 'w1', 0);

    const job = await submit(api);

    expect(job).toMatchObject({ worker_id: 'w1', attempts: 1, decided: 'submission', parked: 'jobRunning' });
    await eventually(async () => expect((await api.store.jobs.load(job?.id ?? ''))?.state).toBe('RUNNING'));
    // Counted after the start is written.
    await eventually(async () =>
      expect(await api.metrics()).toContain('svc_scheduler_jobs_dispatched_total{topic="job.default"'),
    );
  });

  it('adds it to its lane when the worker is full', async () => {
    await heartbeat(api, 'w2', 1);

    expect(await submit(api)).toMatchObject({ parked: 'jobWaiting', waiting_reason: 'pool_overloaded' });
  });
});

describe('POST /api/v1/jobs, with GATEWAY_DISPATCH_AT_SUBMISSION=false', () => {
  const api = useApi({ env: { GATEWAY_DISPATCH_AT_SUBMISSION: 'false' } });
  beforeEach(() => allow(api));
  afterEach(() => api.policy());

  it('sends a permitted job to the scheduler', async () => {
    expect(await submit(api)).toMatchObject({ parked: '', lane: '' });

    expect(await api.store.redis.zcard(keys.queue('jobs', 'prioritized'))).toBe(1);
  });
});
