import { useApi } from '../api.testing';
import type { Who } from '../identities.testing';
import { getCode, openGrpc, type GrpcTestClient } from './grpc.testing';

describe('svc.v1.SvcApi', () => {
  const refusals = new Set<string>();
  const api = useApi({
    mount: {
      rateLimits: {
        api: async (bucket) => ({ allowed: !refusals.has(bucket), headers: { 'Retry-After': '3' } }),
        open: async () => ({ allowed: true, headers: {} }),
      },
    },
  });
  let grpc: GrpcTestClient;

  beforeAll(async () => {
    grpc = await openGrpc(api);
  });
  beforeEach(() => refusals.clear());
  afterAll(() => grpc.close());

  const ask: GrpcTestClient['ask'] = (...call) => grpc.ask(...call);
  const watch = (id: string, who: Who) => grpc.watch(id, who);

  it('submits a job as REST does', async () => {
    const { code, answer } = await ask(
      'SubmitJob',
      { prompt: 'hello', topic: 'job.demo.echo', labels: { a: 'b' }, context: Buffer.from('{"n":1}') },
      'user',
    );

    expect(code).toBe('OK');
    expect(answer).toEqual({
      job_id: expect.any(String),
      trace_id: expect.any(String),
      status: 'submitted',
      reason: '',
    });
    const { body } = await api.as('user').get(`/api/v1/jobs/${String(answer?.['job_id'])}`);
    expect(body).toMatchObject({
      topic: 'job.demo.echo',
      tenant: 'acme',
      labels: { a: 'b' },
      context: { prompt: 'hello', context: { n: 1 } },
    });
  });

  it('submits limits by key as REST does', async () => {
    const limits = {
      concurrency: { key: 'customer-1', limit: 2, strategy: 'cancel_newest' },
      rate: { key: 'api', limit: 10, per: '1m' },
      debounce: { key: 'doc', period: '30s' },
    };
    const request = { prompt: 'p', topic: 'job.demo.echo' };
    const { answer } = await ask('SubmitJob', { ...request, ...limits }, 'user');

    const { body } = await api.as('user').get(`/api/v1/jobs/${String(answer?.['job_id'])}`);
    expect(body).toMatchObject({
      concurrency: limits.concurrency,
      rate: { key: 'api', limit: 10, per: '60s' },
      debounce: { key: 'doc', period: '30s', max_wait: '300s' },
    });
    expect(body).not.toHaveProperty('singleton');

    const first = await ask('SubmitJob', { ...request, singleton: { key: 's' } }, 'user');
    const refused = await ask('SubmitJob', { ...request, singleton: { key: 's' } }, 'user');
    const returned = await ask('SubmitJob', { ...request, singleton: { key: 's', mode: 'return' } }, 'user');
    expect([refused.code, getCode(refused)]).toEqual(['FAILED_PRECONDITION', 'singleton_conflict']);
    expect(returned.answer).toMatchObject({ job_id: first.answer?.['job_id'] });
    const invalid = await ask('SubmitJob', { ...request, rate: { key: 'k', per: '1m' } }, 'user');
    expect([invalid.code, getCode(invalid)]).toEqual(['INVALID_ARGUMENT', 'invalid_body']);
  });

  it('reports a job that requires approval', async () => {
    const { answer } = await ask(
      'SubmitJob',
      { prompt: 'p', topic: 'job.demo.refund', labels: { amount: '300' } },
      'admin',
    );

    expect(answer).toMatchObject({ status: 'approval_required', reason: expect.stringMatching(/refunds/) });
  });

  it('a repeat with the same idempotency key returns the first ids', async () => {
    const request = { prompt: 'once', topic: 'job.demo.echo', idempotency_key: 'k1' };

    const [first, second] = [await ask('SubmitJob', request, 'user'), await ask('SubmitJob', request, 'user')];
    const other = await ask('SubmitJob', { ...request, prompt: 'other' }, 'user');

    expect(second.answer).toEqual(first.answer);
    expect(other.code).toBe('ALREADY_EXISTS');
  });

  it.each([
    ['no prompt', { topic: 'job.demo.echo' }, 'user', 'INVALID_ARGUMENT', 'prompt_is_required'],
    ['an unknown topic', { prompt: 'p', topic: 'job.unserved' }, 'user', 'INVALID_ARGUMENT', 'unknown_topic'],
    ['a context that is not JSON', { prompt: 'p', context: Buffer.from('{') }, 'user', 'INVALID_ARGUMENT', 'invalid_body'],
    ['a topic policy bans', { prompt: 'p', topic: 'job.demo.wipe', risk_tags: ['destructive'] }, 'user', 'PERMISSION_DENIED', 'policy_denied'],
    ['a role that may not submit', { prompt: 'p', topic: 'job.demo.echo' }, 'viewer', 'PERMISSION_DENIED', 'access_denied'],
    ['another tenant’s name', { prompt: 'p', topic: 'job.demo.echo', org_id: 'globex' }, 'user', 'PERMISSION_DENIED', 'tenant_access_denied'],
    ['no credentials', { prompt: 'p' }, undefined, 'UNAUTHENTICATED', 'unauthorized'],
  ] as const)('rejects %s', async (_what, request, who, code, errorCode) => {
    const refused = await ask('SubmitJob', request, who);

    expect(refused.code).toBe(code);
    expect(getCode(refused)).toBe(errorCode);
  }); // prettier-ignore

  it('a rejected submission is counted by its error code, and an accepted one is not', async () => {
    const count = async () => {
      const lines = (await api.metrics()).split('\n');
      const line = lines.find((one) => one.startsWith('svc_gateway_submit_rejected_total{reason="unknown_topic"'));
      return Number(line?.split(' ').at(-1) ?? 0);
    };
    const before = await count();

    await ask('SubmitJob', { prompt: 'p', topic: 'job.unserved' }, 'user');
    await ask('SubmitJob', { prompt: 'p', topic: 'job.demo.echo' }, 'user');

    expect((await count()) - before).toBe(1);
  });

  it('rejects a wrong bearer token even with a valid key', async () => {
    expect((await ask('SubmitJob', { prompt: 'p' }, 'user', { authorization: 'Bearer x.y.z' })).code).toBe(
      'UNAUTHENTICATED',
    );
  });

  it('rejects the header of another tenant', async () => {
    expect((await ask('GetJobStatus', { job_id: 'j' }, 'user', { 'x-tenant-id': 'globex' })).code).toBe(
      'PERMISSION_DENIED',
    );
  });

  it('applies the rate limit of the tenant, with a retry time', async () => {
    refusals.add('tenant:acme');

    const refused = await ask('GetJobStatus', { job_id: 'j' }, 'user');

    expect(refused.code).toBe('RESOURCE_EXHAUSTED');
    expect(refused.error?.metadata.get('retry-after')).toEqual(['3']);
    expect((await ask('GetJobStatus', { job_id: 'j' }, 'other')).code).toBe('NOT_FOUND');
  });

  it('GetJobStatus: returns the state and, unless withheld, the result', async () => {
    const [done, held] = [
      await api.given.job({ state: 'SUCCEEDED', result: { a: 1 } }),
      await api.given.job({ state: 'OUTPUT_QUARANTINED', result: { a: 1 } }),
    ];

    expect((await ask('GetJobStatus', { job_id: done }, 'viewer')).answer).toEqual({
      job_id: done,
      status: 'SUCCEEDED',
      result_ptr: `redis://res:${done}`,
    });
    expect((await ask('GetJobStatus', { job_id: held }, 'viewer')).answer).toEqual({
      job_id: held,
      status: 'OUTPUT_QUARANTINED',
      result_ptr: '',
    });
  });

  it('GetJobStatus: not found for unknown jobs and jobs of another tenant', async () => {
    const id = await api.given.job({ tenant: 'globex' });

    expect(await ask('GetJobStatus', { job_id: id }, 'user')).toMatchObject({ code: 'NOT_FOUND' });
    expect(await ask('GetJobStatus', { job_id: 'none' }, 'user')).toMatchObject({ code: 'NOT_FOUND' });
    expect(await ask('GetJobStatus', { job_id: id }, 'other')).toMatchObject({ code: 'OK' });
  });

  it('WatchJob: streams the current state, each change, and the end', async () => {
    const id = await api.given.job({ state: 'PENDING' });
    const { events, ended } = watch(id, 'user');
    while (events.length === 0) await new Promise(setImmediate);

    await api.as('admin').post(`/api/v1/jobs/${id}/cancel`);

    expect(await ended).toBe('OK');
    expect(events.map((event) => event['status'])).toEqual(['PENDING', 'CANCELLED']);
    expect(Number(events[1]?.['at_us'])).toBeGreaterThanOrEqual(Number(events[0]?.['at_us']));
  });

  it('WatchJob: sends an ended job once; not found for a job of another tenant', async () => {
    const id = await api.given.job({ state: 'FAILED' });
    const { events, ended } = watch(id, 'viewer');

    expect(await ended).toBe('OK');
    expect(events).toMatchObject([{ job_id: id, status: 'FAILED', error_code: 'worker_error' }]);
    expect(await watch(id, 'other').ended).toBe('NOT_FOUND');
  });
});
