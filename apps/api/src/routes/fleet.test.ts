import type { WorkerRecord } from '@svc/store';
import { useApi } from '../api.testing';
import { statusAndCode } from '../caller.testing';

describe('workers, pools and topics', () => {
  const api = useApi();
  const get = (path: string) => api.as('admin').get(`/api/v1/${path}`);
  const worker = (worker_id: string, over: Partial<WorkerRecord> = {}): WorkerRecord => ({
    worker_id,
    pool: 'demo',
    region: 'eu',
    type: 'cpu',
    active_jobs: 1,
    max_parallel_jobs: 4,
    capabilities: ['a'],
    labels: { zone: '1' },
    cpu_load: 12.5,
    gpu_utilization: 0,
    memory_load: 40,
    ready_topics: ['job.default'],
    last_heartbeat_ms: Date.now(),
    agent_name: '',
    draining: false,
    ...over,
  });
  const picture = (...workers: WorkerRecord[]) =>
    api.store.workers.writeSnapshot({ captured_at: new Date().toISOString(), writer_id: 'scheduler-1', pools: {}, workers });

  it('200: live workers from the scheduler’s last snapshot', async () => {
    await picture(worker('w-1'), worker('w-2', { last_heartbeat_ms: Date.now() - 3_600_000, agent_name: 'Bo', draining: true }));

    const { status, body } = await get('workers');

    expect(status).toBe(200);
    expect(body['items']).toMatchObject([
      { worker_id: 'w-1', online: true, heartbeat_age_seconds: expect.any(Number), session_state: 'no_session', session_valid: false },
      { worker_id: 'w-2', online: false, heartbeat_age_seconds: 3_600, agent_name: 'Bo', draining: true },
    ]);
    expect((await get('workers/w-2')).body).toMatchObject({ worker_id: 'w-2', labels: { zone: '1' }, cpu_load: 12.5 });
  });

  it('200: empty before the scheduler’s first snapshot', async () => {
    expect((await get('workers')).body).toEqual({ items: [] });
    expect((await get('pools/demo')).body).toMatchObject({ workers: [], active_jobs: 0, capacity: 0, utilization: 0 });
    expect((await get('pools')).body['items']).toMatchObject([{ name: 'demo', workers: 0 }, { name: 'gpu' }, { name: 'spare' }]);
  });

  it('404: an unknown worker, and an unknown pool', async () => {
    await picture(worker('w-1'));

    expect(statusAndCode(await get('workers/w-2'))).toEqual({ status: 404, code: 'WORKER_NOT_FOUND' });
    expect(statusAndCode(await get('workers/w-2/jobs'))).toEqual({ status: 404, code: 'WORKER_NOT_FOUND' });
    expect(statusAndCode(await get('pools/no-such-pool'))).toEqual({ status: 404, code: 'POOL_NOT_FOUND' });
    expect(statusAndCode(await get('pools/constructor'))).toEqual({ status: 404, code: 'POOL_NOT_FOUND' });
  });

  it('200: the jobs of the caller’s tenant that were dispatched to a worker, newest first', async () => {
    const ids = [await api.given.job({ state: 'SUCCEEDED' }), await api.given.job({ state: 'RUNNING' })];
    await api.given.job({ state: 'RUNNING', tenant: 'globex' });
    await picture(worker('idle'));

    const { body } = await get('workers/worker-7/jobs');

    expect((body['items'] as { id: string }[]).map(({ id }) => id)).toEqual([...ids].reverse());
    expect((await get('workers/worker-7/jobs?limit=1')).body['items']).toHaveLength(1);
    expect((await get('workers/idle/jobs')).body).toEqual({ items: [] });
  });

  it('200: pools with the load of their workers', async () => {
    await picture(worker('w-1', { active_jobs: 3 }), worker('w-2'), worker('w-3', { pool: 'gpu', active_jobs: 9 }));

    expect((await get('pools')).body['items']).toMatchObject([
      { name: 'demo', status: 'active', requires: [], workers: 2, active_jobs: 4, capacity: 8, utilization: 0.5 },
      { name: 'gpu', requires: ['gpu'], workers: 1, utilization: 1 },
      { name: 'spare', workers: 0, capacity: 0, utilization: 0 },
    ]);
    expect((await get('pools/demo')).body).toMatchObject({
      name: 'demo',
      topics: ['job.default', 'job.demo.*'],
      workers: [{ worker_id: 'w-1' }, { worker_id: 'w-2' }],
      utilization: 0.5,
    });
  });

  it('200: topics with the workers that serve them, also to a viewer', async () => {
    await picture(worker('w-1'), worker('w-2', { pool: 'spare' }), worker('w-3', { pool: 'gpu' }));

    expect((await api.as('viewer').get('/api/v1/topics')).body).toEqual({
      items: [
        { name: 'job.default', pool: 'demo', requires: [], risk_tags: [], status: 'active', active_worker_count: 1 },
        { name: 'job.demo.*', pool: 'demo', requires: [], risk_tags: [], status: 'active', active_worker_count: 2 },
        { name: 'job.demo.render', pool: 'gpu', requires: ['gpu'], risk_tags: [], status: 'active', active_worker_count: 1 },
      ],
      registry_empty: false,
    });
  });
}); // prettier-ignore

describe('without a pools file', () => {
  const api = useApi({ env: { POOL_CONFIG_PATH: '/no/such/pools.yaml' } });

  it('every topic is accepted, and none is listed', async () => {
    expect((await api.as('viewer').get('/api/v1/topics')).body).toEqual({ items: [], registry_empty: true });
    expect((await api.as('user').post('/api/v1/jobs', { prompt: 'x', topic: 'job.demo.x' })).status).toBe(200);
  });
});

describe('workers with credentials', () => {
  const api = useApi({ env: { TENANT_ID: 'house' } });

  it('are listed to their own tenant, those of the installation to all', async () => {
    const base = {
      ...{
        pool: 'demo',
        region: '',
        type: 'cpu',
        agent_name: '',
        draining: false,
        active_jobs: 0,
        max_parallel_jobs: 1,
      },
      ...{ capabilities: [], labels: {}, cpu_load: 0, gpu_utilization: 0, memory_load: 0, ready_topics: [] },
      last_heartbeat_ms: Date.now(),
    };
    const session = { exp_ms: Date.now() + 60_000, revoked: false };
    const workers: WorkerRecord[] = [
      { ...base, worker_id: 'own', attested: true, tenant: 'acme', session },
      { ...base, worker_id: 'foreign', attested: true, tenant: 'globex' },
      { ...base, worker_id: 'shared', attested: true, tenant: 'house', session: { ...session, revoked: true } },
      { ...base, worker_id: 'unknown' },
    ];
    await api.store.workers.writeSnapshot({ captured_at: '', writer_id: 's', pools: {}, workers });
    const get = (path: string, as = api.as('admin')) => as.get(`/api/v1/${path}`);
    const ids = (items: unknown) => (items as { worker_id: string }[]).map(({ worker_id }) => worker_id);

    const { body } = await get('workers');

    expect(ids(body['items'])).toEqual(['own', 'shared', 'unknown']);
    expect(body['items']).toMatchObject([
      { attested: true, session_state: 'valid', session_valid: true },
      { session_state: 'session_revoked', session_valid: false, session_revoked: true },
      { session_state: 'no_session' },
    ]);
    expect(JSON.stringify(body)).not.toContain('"tenant"');
    expect(ids((await get('pools/demo')).body['workers'])).toEqual(['own', 'shared', 'unknown']);
    // It has run a job of another tenant.
    await api.given.job({ state: 'RUNNING', tenant: 'globex', workerId: 'foreign' });
    for (const path of ['workers/foreign', 'workers/foreign/jobs'])
      expect(statusAndCode(await get(path))).toEqual({ status: 404, code: 'WORKER_NOT_FOUND' });
    expect(ids((await get('workers', api.as('everywhere'))).body['items'])).toHaveLength(4);
  });
});
