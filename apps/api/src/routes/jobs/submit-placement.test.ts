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

  it('knows the workers from their heartbeats', async () => {
    const head = { trace_id: '', sender_id: 'w1', nowUs: Date.now() * 1_000 };
    const beat = heartbeatPacket(head, { worker_id: 'w1', pool: 'demo', max_parallel_jobs: 1, active_jobs: 1 });
    const { registry } = api;
    api.bus.publish(subjects.heartbeat.name, beat);
    await eventually(() => registry.has('w1'));

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
