import { bootIdLabel, dataUrlEnv, storeAccessLabel, type JobRequest } from '@svc/contract';
import { openDataTokens, type DataGrant } from '@svc/identity';
import type { JobState } from '@svc/lifecycle';
import { endChild, eventually, spawnLeashed } from '@svc/testing';
import { createWorker, type Job, type WorkerOptions } from '@svc/worker-sdk';
import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { useApi } from '../apps/api/src/api.testing';
import { requirePython, scriptPath } from './third-party/python';
import { startRawWorker } from '../apps/scheduler/src/raw-worker.testing';
import { startScheduler, type Scheduler } from '../apps/scheduler/src/scheduler.testing';

const key = 'Q7-data-url-key-of-these-tests-9fK2';
const tokens = openDataTokens(key);
const maxBytes = 2_048;
const quickRetries = { retry: { initial_backoff: '10ms', max_backoff: '20ms', max_retries: 2 } };
const noted: unknown[] = [];
const mount = {
  onServed: (served: unknown) => void noted.push(served),
  onRefused: (refused: unknown) => void noted.push(refused),
};

/** Gateway and scheduler with the same key, on one Redis and one NATS. */
describe('data URLs', () => {
  const api = useApi({ env: { SVC_DATA_URL_KEY: key, ARTIFACT_MAX_BYTES: String(maxBytes) }, mount });
  const stops: (() => unknown)[] = [];
  let savedRedisUrl: string | undefined;
  let scheduler: Scheduler;
  beforeEach(async () => {
    noted.length = 0;
    savedRedisUrl = process.env['REDIS_URL'];
    delete process.env['REDIS_URL'];
    const dir = mkdtempSync(join(tmpdir(), 'svc-test-data-urls-'));
    stops.push(() => rmSync(dir, { recursive: true }));
    const policyPath = join(dir, 'safety.yaml');
    writeFileSync(policyPath, "version: '1'\ndefault_decision: allow\n");
    const { redisUrl, natsUrl } = api.servers;
    const env = { dataUrlKey: key, dataUrlBase: api.url };
    scheduler = await startScheduler({ redisUrl, natsUrl, policyPath, broken: new Set() }, { env });
    stops.push(() => scheduler.stop());
  });
  afterEach(async () => {
    for (const stop of stops.reverse().splice(0)) await stop();
    if (savedRedisUrl !== undefined) process.env['REDIS_URL'] = savedRedisUrl;
  });

  const submit = async (body: object = {}): Promise<string> => {
    const { body: response } = await api
      .as('admin')
      .post('/api/v1/jobs', { topic: 'job.demo.echo', prompt: 'hello', ...body });
    return String(response['job_id']);
  };
  const until = (id: string, state: JobState) =>
    eventually(async () => {
      const job = await api.store.jobs.load(id);
      expect(job).toMatchObject({ state });
      return job;
    }, { withinMs: 15_000 }); // prettier-ignore
  const rawWorker = async (labels: Record<string, string> = {}) => {
    const worker = await startRawWorker(api.servers.natsUrl, { id: 'w1', max: 4, labels });
    stops.push(() => worker.stop());
    return worker;
  };
  /** An SDK worker without a Redis URL. */
  const sdkWorker = async (handler: (job: Job) => unknown, over: Partial<WorkerOptions> = {}) => {
    const worker = createWorker({
      ...{ id: 'w1', pool: 'main', topics: { 'job.>': handler }, natsUrl: api.servers.natsUrl },
      ...{ heartbeatMs: 100, graceMs: 500, signals: [], onError: () => undefined, ...over },
    });
    await worker.start();
    stops.push(() => worker.stop());
  };
  /** A worker of sdk/python without a Redis URL. */
  const pythonWorker = async () => {
    const { REDIS_URL: _, ...env } = process.env;
    const more = { PYTHONPATH: resolve(__dirname, '../sdk/python'), NATS_URL: api.servers.natsUrl };
    const names = { WORKER_ID: 'w1', SVC_POOL: 'main' };
    const options = { env: { ...env, ...more, ...names }, output: 'pipe' } as const;
    const worker = spawnLeashed(requirePython(), [scriptPath('sdk_worker.py')], options);
    stops.push(() => endChild(worker));
    let output = '';
    for (const stream of [worker.stdout, worker.stderr]) stream?.on('data', (data: Buffer) => (output += String(data)));
    await eventually(() => expect(output).toContain('ready'), { withinMs: 30_000 });
  };
  const getUrl = ({ env }: JobRequest, name: 'INPUT' | 'RESULT' | 'ARTIFACT') => env[`SVC_${name}_URL`] ?? '';
  const call = async (url: string, method = 'GET', body?: string) => {
    const answer = await fetch(url, { method, ...(body !== undefined && { body }) });
    const view = (await answer.json().catch(() => ({}))) as Record<string, unknown>;
    return { status: answer.status, code: view['code'], view };
  };
  const refusal = async (url: string, method?: string, body?: string) => {
    const { status, code } = await call(url, method, body);
    return [status, code];
  };
  const withToken = (url: string, token: string) => url.replace(/token=.*/, `token=${token}`);
  const tokenIn = (url: string) => new URL(url).searchParams.get('token') ?? '';
  const dispatched = async (body: object = {}) => {
    const worker = await rawWorker();
    const id = await submit(body);
    return { worker, id, request: await worker.dispatched(id) };
  };
  const buildGrant = ({ job_id, dispatch, tenant_id }: JobRequest, over: Partial<DataGrant> = {}): DataGrant => ({
    ...{ purpose: 'result', jobId: job_id, dispatchId: dispatch?.dispatch_id ?? '', workerId: 'w1', tenant: tenant_id },
    ...over,
  });

  it('let a worker in Python without Redis read the input and store result and artifacts', async () => {
    await pythonWorker();

    const id = await submit({ topic: 'job.demo.report', prompt: 'by URL' });

    const job = await until(id, 'SUCCEEDED');
    const { body } = await api.as('admin').get(`/api/v1/jobs/${id}`);
    expect(body['result']).toEqual({ pointer: job?.artifact_ptrs?.[0], prompt: 'by URL' });
  });

  it('let an SDK worker without Redis read the input and store result and artifacts', async () => {
    let artifact = '';
    await sdkWorker(async (job) => {
      artifact = await job.saveArtifact(Buffer.from([0, 255, 1]), { contentType: 'image/x', labels: { a: '1' } });
      return { echo: job.prompt, context: job.context };
    });

    const id = await submit({ context: { note: 'kept' } });

    const job = await until(id, 'SUCCEEDED');
    expect(job?.artifact_ptrs).toEqual([artifact]);
    const { body } = await api.as('admin').get(`/api/v1/jobs/${id}`);
    expect(body['result']).toEqual({ echo: 'hello', context: { note: 'kept' } });
    const stored = await api.as('admin').get(`/api/v1/artifacts/${encodeURIComponent(artifact)}`);
    expect(stored.body).toMatchObject({
      content_base64: Buffer.from([0, 255, 1]).toString('base64'),
      metadata: { content_type: 'image/x', labels: { a: '1', job_id: id, tenant_id: 'acme' } },
    });
  });

  it('are absent from dispatches to workers that announce access to the store, until one restarts without', async () => {
    const namedUrls = ({ env }: JobRequest) => Object.values(dataUrlEnv).filter((name) => env[name]);
    const announces = (expected: boolean) =>
      eventually(() => expect(scheduler.ctx.registry.announces('w1', storeAccessLabel, Date.now())).toBe(expected));
    const able = await rawWorker({ [bootIdLabel]: 'boot-1', [storeAccessLabel]: 'true' });
    await announces(true);
    const without = await able.dispatched(await submit());
    await able.answer(without);
    await able.stop();

    const plain = await rawWorker({ [bootIdLabel]: 'boot-2' });
    await announces(false);

    expect(namedUrls(without)).toEqual([]);
    expect(namedUrls(await plain.dispatched(await submit()))).toEqual(Object.values(dataUrlEnv));
  });

  it('are absent from dispatches to an SDK worker with Redis', async () => {
    const requests: Job['env'][] = [];
    await sdkWorker((job) => void requests.push(job.env), { redisUrl: api.servers.redisUrl });

    await until(await submit(), 'SUCCEEDED');

    expect(Object.keys(requests[0] ?? {}).filter((name) => name.endsWith('_URL'))).toEqual([]);
  });

  it('let it store bytes, and fail the job without retry when they are too many', async () => {
    await sdkWorker(({ prompt }) => Buffer.alloc(prompt === 'large' ? maxBytes + 1 : maxBytes, 7));

    const [fits, large] = [await submit(), await submit({ prompt: 'large' })];

    const { result_ptr: pointer = '' } = (await until(fits, 'SUCCEEDED')) ?? {};
    expect((await api.store.data.read(pointer, maxBytes))?.body).toEqual(Buffer.alloc(maxBytes, 7));
    expect(await until(large, 'FAILED')).toMatchObject({ attempts: 1, error_code: 'request_too_large' });
  });

  it('work with any HTTP client and no other credentials, and are idempotent', async () => {
    const { worker, id, request } = await dispatched();

    const input = await fetch(getUrl(request, 'INPUT'));
    const [first, again, other] = [
      await call(getUrl(request, 'RESULT'), 'PUT', '{"a":1}'),
      await call(getUrl(request, 'RESULT'), 'PUT', '{"a":1}'),
      await call(getUrl(request, 'RESULT'), 'PUT', '{"a":2}'),
    ];

    expect(await input.json()).toMatchObject({ prompt: 'hello', tenant_id: 'acme' });
    expect(input.headers.get('content-type')).toBe('application/octet-stream');
    const sha256 = createHash('sha256').update('{"a":1}').digest('hex');
    const view = { result_ptr: `redis://res:${id}:sha256:${sha256}`, size_bytes: 7, sha256 };
    expect([first.view, again.view]).toEqual([view, view]);
    expect(other.view['result_ptr']).not.toBe(view.result_ptr);
    await worker.answer(request, 'SUCCEEDED', { result_ptr: view.result_ptr });
    await until(id, 'SUCCEEDED');
    expect((await api.as('admin').get(`/api/v1/jobs/${id}`)).body['result']).toEqual({ a: 1 });
  });

  it('403: for another job or another purpose', async () => {
    const { worker, request } = await dispatched();
    const other = await submit();
    await worker.dispatched(other);
    const [input, result] = [getUrl(request, 'INPUT'), getUrl(request, 'RESULT')];
    const forbidden = [403, 'data_url_forbidden'];

    expect(await refusal(result.replace(request.job_id, other), 'PUT', '{}')).toEqual(forbidden);
    expect(await refusal(withToken(result, tokenIn(input)), 'PUT', '{}')).toEqual(forbidden);
    expect(await refusal(withToken(input, tokenIn(result)))).toEqual(forbidden);
    expect(await refusal(withToken(getUrl(request, 'ARTIFACT'), tokenIn(result)), 'POST', 'x')).toEqual(forbidden);
  });

  it('401: token tampered, expired, missing, sent twice, or signed with another key; the body is not read', async () => {
    const { request } = await dispatched();
    const url = getUrl(request, 'RESULT');
    const [head = '', claims = '', signature = ''] = tokenIn(url).split('.');
    const grant = buildGrant(request);
    const claimed = JSON.parse(Buffer.from(claims, 'base64url').toString()) as object;
    const changed = Buffer.from(JSON.stringify({ ...claimed, exp: 9_999_999_999 })).toString('base64url');
    const unsigned = Buffer.from('{"alg":"none","typ":"JWT"}').toString('base64url');
    const body = 'x'.repeat(maxBytes + 1);

    for (const bad of [
      withToken(url, `${head}.${changed}.${signature}`),
      withToken(url, `${unsigned}.${claims}.`),
      withToken(url, openDataTokens('another-key-of-thirty-two-characters').sign(grant, Date.now() + 60_000)),
      withToken(url, ''),
      url.replace(/\?.*/, ''),
      `${url}&token=${tokenIn(url)}`,
    ]) {
      expect(await refusal(bad, 'PUT', body)).toEqual([401, 'data_url_invalid']);
    }
    const expired = tokens.sign(grant, Date.now() - 1_000);
    expect(await refusal(withToken(url, expired), 'PUT', body)).toEqual([401, 'data_url_expired']);
    expect(await refusal(url, 'PUT', body)).toEqual([413, 'request_too_large']);
  });

  it('403: signed for another tenant; 409: signed for another worker', async () => {
    const { request } = await dispatched();
    const url = getUrl(request, 'RESULT');
    const signed = (over: Partial<DataGrant>) =>
      withToken(url, tokens.sign(buildGrant(request, over), Date.now() + 60_000));

    expect(await refusal(signed({ tenant: 'globex' }), 'PUT', '{}')).toEqual([403, 'tenant_access_denied']);
    expect(await refusal(signed({ workerId: 'w2' }), 'PUT', '{}')).toEqual([409, 'dispatch_superseded']);
    const gone = tokens.sign(buildGrant(request, { jobId: 'none' }), Date.now() + 60_000);
    expect(await refusal(withToken(url, gone).replace(request.job_id, 'none'), 'PUT', '{}')).toEqual([
      404,
      'job_not_found',
    ]);
  });

  it('409: after the end of the job, whose stored result is unchanged since its scan', async () => {
    const { worker, id, request } = await dispatched();
    const { view } = await call(getUrl(request, 'RESULT'), 'PUT', '{"a":1}');
    await worker.answer(request, 'SUCCEEDED', { result_ptr: String(view['result_ptr']) });
    await until(id, 'SUCCEEDED');
    const ended = [409, 'job_not_in_flight'];

    expect(await refusal(getUrl(request, 'INPUT'))).toEqual(ended);
    expect(await refusal(getUrl(request, 'RESULT'), 'PUT', '{"a":2}')).toEqual(ended);
    expect(await refusal(getUrl(request, 'ARTIFACT'), 'POST', 'x')).toEqual(ended);
    expect((await api.as('admin').get(`/api/v1/jobs/${id}`)).body['result']).toEqual({ a: 1 });
  });

  it('409: for a superseded dispatch; the URLs of the new one work', async () => {
    await api.as('admin').put('/api/v1/config', { scope: 'org', scope_id: 'acme', data: quickRetries });
    const { worker, id, request } = await dispatched();
    await worker.answer(request, 'FAILED_RETRYABLE');
    const second = await worker.dispatched(id, 2);

    for (const [name, method, body] of [
      ['INPUT', 'GET', undefined],
      ['RESULT', 'PUT', '{}'],
      ['ARTIFACT', 'POST', 'x'],
    ] as const) {
      // prettier-ignore
      expect(await refusal(getUrl(request, name), method, body)).toEqual([409, 'dispatch_superseded']);
      expect((await call(getUrl(second, name), method, body)).status).toBe(200);
    }
  });

  it('400: an artifact that is empty or has labels that are not strings; 404: an input that no longer exists', async () => {
    const { id, request } = await dispatched();
    const artifact = getUrl(request, 'ARTIFACT');
    await api.store.redis.del(`ctx:${id}`);

    expect(await refusal(artifact, 'POST')).toEqual([400, 'content_required']);
    expect(await refusal(`${artifact}&labels=${encodeURIComponent('{"a":1}')}`, 'POST', 'x')).toEqual([
      400,
      'invalid_body',
    ]);
    expect(await refusal(`${artifact}&labels=nonsense`, 'POST', 'x')).toEqual([400, 'invalid_body']);
    expect(await refusal(getUrl(request, 'INPUT'))).toEqual([404, 'input_not_found']);
  });

  it('appear in no log or metric of the gateway, whether accepted or rejected', async () => {
    const { request } = await dispatched();
    const [input, result] = [getUrl(request, 'INPUT'), getUrl(request, 'RESULT')];

    await call(input);
    await call(withToken(result, tokenIn(input)), 'PUT', '{}');

    await eventually(() => expect(noted.length).toBeGreaterThanOrEqual(3));
    const written = JSON.stringify(noted);
    expect(written).toContain('data_url_forbidden');
    expect(written).not.toContain('token=');
    for (const part of tokenIn(input).split('.')) expect(written).not.toContain(part);
  });
});
