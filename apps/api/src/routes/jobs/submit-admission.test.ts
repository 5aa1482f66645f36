import { SnapshotAdmission } from '@svc/admission';
import { eventually } from '@svc/testing';
import { useApi, type Api } from '../../api.testing';
import { statusAndCode, type HttpAnswer } from '../../caller.testing';

const submit = (api: Api, who: 'user' | 'other' = 'user', bytes = 0) =>
  api.as(who).post('/api/v1/jobs', { prompt: 'hello', context: { text: 'x'.repeat(bytes) } });
/** Refreshes the gateway's snapshot of Redis immediately, since each test empties the store. */
async function see({ ctx: { submit } }: Api): Promise<void> {
  if (!(submit.admission instanceof SnapshotAdmission)) throw new Error('nothing is limited');
  await submit.admission.refresh();
  await submit.admission.refresh();
}
const retryAfterSec = (answer: HttpAnswer | undefined) => Number(answer?.headers['retry-after']);

describe('POST /api/v1/jobs when a tenant has reached its share', () => {
  const api = useApi({ env: { SVC_MAX_PENDING_JOBS_PER_TENANT: '3' } });
  beforeEach(() => see(api));

  it('429: only that tenant is rejected, until one of its jobs ends', async () => {
    const answers = [];
    for (let i = 0; i < 5; i++) answers.push(await submit(api));
    const refused = answers.filter(({ status }) => status !== 200);

    expect(refused.map(statusAndCode)).toEqual(
      Array.from({ length: 2 }, () => ({ status: 429, code: 'BACKPRESSURE' })),
    );
    expect(refused[0]?.body).toMatchObject({ limit_of: 'jobs', current: 3, limit: 3 });
    expect(retryAfterSec(refused[0])).toBeGreaterThanOrEqual(1);
    expect((await submit(api, 'other')).status).toBe(200);

    await api.as('admin').post(`/api/v1/jobs/${String(answers[0]?.body['job_id'])}/cancel`);
    await eventually(async () => expect((await submit(api)).status).toBe(200)); // the gateway refreshes its snapshot by itself
  });

  it('429: also for the retry of a dead letter', async () => {
    const id = await api.given.job({ state: 'FAILED' });
    await api.given.jobs(3);
    await see(api);
    expect((await submit(api)).status).toBe(429);

    expect(statusAndCode(await api.as('admin').post(`/api/v1/dlq/${id}/retry`))).toEqual({
      status: 429,
      code: 'BACKPRESSURE',
    });
  });

  it('200: a stored response is replayed regardless of capacity', async () => {
    const first = await api.as('user').post('/api/v1/jobs', { prompt: 'x' }, { 'Idempotency-Key': 'k' });
    await api.given.jobs(3);
    await see(api);
    expect((await submit(api)).status).toBe(429);

    const again = await api.as('user').post('/api/v1/jobs', { prompt: 'x' }, { 'Idempotency-Key': 'k' });

    expect({ status: again.status, id: again.body['job_id'] }).toEqual({ status: 200, id: first.body['job_id'] });
  });
});

describe('POST /api/v1/jobs when memory is short', () => {
  const api = useApi({ env: { SVC_ADMISSION_MEMORY_PERCENT: '75' } });
  const redis = () => api.store.redis;
  const limit = (bytes: number) => redis().call('CONFIG', 'SET', 'maxmemory', String(bytes));
  const used = async () => Number(/used_memory:(\d+)/.exec(await redis().info('memory'))?.[1]);
  afterEach(() => limit(0));

  it('503: new work is rejected before Redis rejects writes; active work ends, and capacity returns', async () => {
    const running = await api.given.job({ state: 'RUNNING' });
    const maxBytes = (await used()) * 1.5 + 6_000_000;
    await limit(Math.ceil(maxBytes));
    await see(api);

    let refused = await submit(api, 'user', 60_000);
    for (let i = 0; i < 1_000 && refused.status === 200; i++) refused = await submit(api, 'user', 60_000);

    expect(statusAndCode(refused)).toEqual({ status: 503, code: 'overloaded' });
    expect(retryAfterSec(refused)).toBeGreaterThanOrEqual(1);
    expect(JSON.stringify(refused.body)).not.toMatch(/memory|redis/i);
    // Between two snapshots a few more jobs may be accepted.
    const keep = () => api.as('user').post('/api/v1/artifacts', { content: 'x'.repeat(60_000) });
    await eventually(async () => expect(statusAndCode(await keep())).toMatchObject({ status: 503 }));
    // Well below the limit: the service stays ready, accepts results and ends jobs.
    expect(await used()).toBeLessThan(maxBytes * 0.9);
    expect((await api.anonymous.get('/readyz')).status).toBe(200);
    await redis().set(`res:${running}`, 'y'.repeat(500_000));
    expect((await api.store.jobs.move('*', running, 'succeed')).kind).toBe('moved');

    await limit(0);
    await eventually(async () => expect((await submit(api)).status).toBe(200));
  });

  it('503: also for a concurrent burst', async () => {
    await limit(Math.ceil(((await used()) + 2_000_000) / 0.75));
    await see(api);

    const burst = await Promise.all(Array.from({ length: 60 }, () => submit(api, 'user', 60_000)));

    expect(new Set(burst.map(({ status }) => status))).toEqual(new Set([200, 503]));
    expect((await api.anonymous.get('/readyz')).status).toBe(200);
  });
});
