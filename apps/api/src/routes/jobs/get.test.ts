import { eventually } from '@svc/testing';
import { useApi } from '../../api.testing';
import { statusAndCode } from '../../caller.testing';
import type { ApiContext } from '../../context';

describe('GET /api/v1/jobs/:id', () => {
  const awaited = new Set<string>();
  const context = (ctx: ApiContext): ApiContext => ({
    ...ctx,
    reads: {
      ...ctx.reads,
      endings: {
        wait(id, forMs) {
          awaited.add(id);
          return ctx.reads.endings.wait(id, forMs);
        },
      },
    },
  });
  const api = useApi({ context });
  const get = (id: string) => api.as('viewer').get(`/api/v1/jobs/${id}`);

  it('200: the result of the worker', async () => {
    const id = await api.given.job({ state: 'SUCCEEDED', result: { answer: 42 }, context: { question: '?' } });

    const { status, body } = await get(id);

    expect(status).toBe(200);
    expect(body).toMatchObject({
      id,
      state: 'SUCCEEDED',
      result_ptr: `redis://res:${id}`,
      result: { answer: 42 },
      context_ptr: `redis://ctx:${id}`,
      context: { prompt: 'say hello', context: { question: '?' } },
      worker_id: 'worker-7',
      pool: 'demo',
      attempts: 1,
    });
    expect(body).not.toHaveProperty('waiting_reason');
    expect(body).not.toHaveProperty('error_message');
  });

  it('200: a client may wait for the end, and gets the response immediately after it', async () => {
    const id = await api.given.job({ state: 'RUNNING' });

    const waiting = api.as('viewer').get(`/api/v1/jobs/${id}?wait_ms=20000`);
    await new Promise((resolve) => setTimeout(resolve, 100));
    await api.store.jobs.move('*', id, 'succeed');

    expect((await waiting).body).toMatchObject({ id, state: 'SUCCEEDED' });
    // No wait for a job that has ended.
    expect((await api.as('viewer').get(`/api/v1/jobs/${id}?wait_ms=20000`)).body).toMatchObject({ state: 'SUCCEEDED' });
  });

  it('200: after a wait, the same text as a read after the end', async () => {
    const given = await api.given.job({ state: 'RUNNING', context: { question: '?' } });
    // The first wait has later submissions remembered, and ends announced with details.
    await get(`${given}?wait_ms=1`);
    const { body } = await api.as('user').post('/api/v1/jobs', { prompt: 'hi', topic: 'job.default', labels: { a: 'b' } });
    const submitted = String(body['job_id']);
    awaited.clear();
    for (const [id, size] of [[submitted, 10], [given, 9_000]] as const) {
      await api.store.redis.set(`res:${id}`, JSON.stringify({ text: 'x'.repeat(size) }));
      const waiting = api.as('viewer').get(`/api/v1/jobs/${id}?wait_ms=20000`);
      await eventually(() => expect(awaited).toContain(id));

      await api.store.jobs.move('*', id, 'succeed', { set: { result_ptr: `redis://res:${id}`, execution_ms: 3 } });

      const waited = await waiting;
      expect(waited.body).toMatchObject({ state: 'SUCCEEDED', result: { text: 'x'.repeat(size) }, execution_ms: 3 });
      expect(JSON.stringify(waited.body)).toBe(JSON.stringify((await get(id)).body));
    }
  });

  it('200: an end that is not announced is found when the subscription is restored', async () => {
    const id = await api.given.job({ state: 'RUNNING' });
    const waiting = get(`${id}?wait_ms=20000`);
    await eventually(() => expect(awaited).toContain(id));
    const { redis, keys } = api.store;

    // Before and after the end: the first interruption must not end the wait with a running job.
    await redis.call('CLIENT', 'KILL', 'TYPE', 'pubsub');
    await eventually(async () => expect(await redis.pubsub('NUMSUB', keys.endings())).toEqual([keys.endings(), 1]));
    await redis.hset(keys.job(id), 'state', 'SUCCEEDED');
    await redis.call('CLIENT', 'KILL', 'TYPE', 'pubsub');

    expect((await waiting).body).toMatchObject({ id, state: 'SUCCEEDED' });
  });

  it('200: after the maximum wait, the current state', async () => {
    const id = await api.given.job({ state: 'RUNNING' });

    expect((await api.as('viewer').get(`/api/v1/jobs/${id}?wait_ms=50`)).body).toMatchObject({ state: 'RUNNING' });
    expect((await api.as('viewer').get(`/api/v1/jobs/${id}?wait_ms=99000`)).status).toBe(400);
  });

  it('200: a quarantined result is withheld, and so is its pointer', async () => {
    const id = await api.given.job({ state: 'OUTPUT_QUARANTINED', result: { key: 'canary' } });
    await api.store.redis.hset(`{s0}:job:${id}`, 'output_safety', JSON.stringify({ decision: 'QUARANTINE', reason: 'r', rule_id: 'output-secret-leak', policy_snapshot: 's', findings: [], phase: 'async', original_ptr: `redis://res:${id}`, checked_at: 1, check_duration_ms: 1 }));

    const { body } = await get(id);

    expect(body).toMatchObject({
      state: 'OUTPUT_QUARANTINED',
      result: null,
      result_ptr: '',
      error_code: 'output_quarantined',
      output_decision: 'QUARANTINE',
      output_safety: { rule_id: 'output-secret-leak', original_ptr: `redis://res:${id}` },
    });
    expect(JSON.stringify(body)).not.toContain('canary');
  });

  it.each([
    ['somewhere else', 'redis://ctx:another', 'another'],
    ['another job’s result', 'redis://res:another', 'another'],
    ['nothing', 'redis://res:gone', undefined],
  ])('200: a result pointer to %s is returned and never followed', async (_where, result_ptr, id) => {
    if (id) await api.store.redis.set(result_ptr.replace('redis://', ''), '"canary"');
    const job = await api.given.job({ state: 'SUCCEEDED' });
    await api.store.redis.hset(`{s0}:job:${job}`, 'result_ptr', result_ptr);

    expect((await get(job)).body).toMatchObject({ result_ptr, result: null });
  });

  it.each([
    ['is no JSON', (id: string) => api.store.redis.set(`res:${id}`, 'text')],
    ['is no string', async (id: string) => {
      await api.store.redis.del(`res:${id}`);
      await api.store.redis.rpush(`res:${id}`, 'x');
    }],
    ['is larger than is shown inline', (id: string) => api.store.redis.set(`res:${id}`, `"${'x'.repeat(1_048_576)}"`)],
    ['has expired', (id: string) => api.store.redis.del(`res:${id}`)],
  ])('200: a result that %s reads as null', async (_what, change) => {
    const id = await api.given.job({ state: 'SUCCEEDED' });
    await change(id);

    expect(await get(id)).toMatchObject({ status: 200, body: { result: null, result_ptr: `redis://res:${id}` } });
  });

  it('200: a waiting reason for waiting jobs only', async () => {
    const waiting = await api.given.job({ fields: { waiting_reason: 'no_workers' } });
    const running = await api.given.job({ state: 'RUNNING', fields: { waiting_reason: 'no_workers' } });

    expect((await get(waiting)).body['waiting_reason']).toBe('no_workers');
    expect((await get(running)).body).not.toHaveProperty('waiting_reason');
  });

  it.each(['FAILED', 'TIMEOUT', 'DENIED'] as const)('200: the error of a job that ended %s', async (state) => {
    const { body } = await get(await api.given.job({ state }));

    expect(body).toMatchObject({ state, error_message: expect.stringMatching(/./), error_code: expect.stringMatching(/./), error_status: `JOB_STATUS_${state}`, last_state: expect.stringMatching(/./) });
  });

  it('200: a denied job shows the refusal as its result', async () => {
    const id = await api.given.job({ state: 'DENIED' });

    expect((await get(id)).body['result']).toMatchObject({
      job_id: id,
      status: 'JOB_STATUS_DENIED',
      error: { message: 'not here' },
      completed_at: expect.stringMatching(/^\d{4}-.*Z$/),
    });
  });

  it('404: an unknown job', async () => {
    expect(statusAndCode(await get('nothing-of-that-name'))).toEqual({ status: 404, code: 'job_not_found' });
  });

  it('404 and 403 before the wait: an unknown job, and one of another tenant', async () => {
    const id = await api.given.job({ state: 'RUNNING', tenant: 'globex' });
    const { body } = await api.as('otherUser').post('/api/v1/jobs', { prompt: 'hi', topic: 'job.default' });
    const submitted = String(body['job_id']);

    const answers = await Promise.all(['nothing-of-that-name', id, submitted].map((of) => get(`${of}?wait_ms=20000`)));

    const foreign = { status: 403, code: 'tenant_access_denied' };
    expect(answers.map(statusAndCode)).toEqual([{ status: 404, code: 'job_not_found' }, foreign, foreign]);
  });
}); // prettier-ignore

describe('GET /api/v1/jobs/:id/decisions and /api/v1/traces/:id', () => {
  const api = useApi();
  const get = (path: string) => api.as('viewer').get(path);

  it('200: decisions, newest first, at most the requested number', async () => {
    const id = await api.given.job({ safety: { rule_id: 'r1', reason: 'why' } });
    await api.store.jobs.move('*', id, 'cancel', {
      decision: { decision: 'DENY', rule_id: 'r2', checked_at: 2, source: 'scheduler', remediations: [{ id: 'm' }] },
    });

    const all = await get(`/api/v1/jobs/${id}/decisions`);
    const one = await get(`/api/v1/jobs/${id}/decisions?limit=1`);

    expect(all.body).toMatchObject([
      { decision: 'DENY', rule_id: 'r2', source: 'scheduler', remediations: [{ id: 'm' }] },
      { decision: 'ALLOW', rule_id: 'r1', reason: 'why', source: 'gateway', job_hash: expect.stringMatching(/^[0-9a-f]{64}$/) },
    ]);
    expect(one.body).toMatchObject([{ rule_id: 'r2' }]);
  });

  it('200: an unknown job has none, an unknown trace no jobs', async () => {
    expect((await get('/api/v1/jobs/nothing/decisions')).body).toEqual([]);
    expect((await get('/api/v1/traces/nothing')).body).toEqual([]);
  });

  it('200: jobs of a trace, oldest first, of the caller’s tenant only', async () => {
    const ids = await api.given.jobs(3, { traceId: 't' });
    await api.given.job({ traceId: 't', tenant: 'globex' });
    await api.as('admin').post(`/api/v1/jobs/${ids[0] ?? ''}/cancel`);

    const { body } = await get('/api/v1/traces/t');

    expect((body as unknown as { id: string }[]).map(({ id }) => id)).toEqual(ids);
  });
}); // prettier-ignore
