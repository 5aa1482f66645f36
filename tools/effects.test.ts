import { dataUrlEnv, type JobRequest } from '@svc/contract';
import type { JobState } from '@svc/lifecycle';
import { keys } from '@svc/store';
import { endChild, eventually, spawnLeashed } from '@svc/testing';
import { createWorker, type Job, NotAppliedError, RetryableError, type WorkerOptions } from '@svc/worker-sdk';
import type { ChildProcess } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { useApi } from '../apps/api/src/api.testing';
import { startRawWorker } from '../apps/scheduler/src/raw-worker.testing';
import { startScheduler } from '../apps/scheduler/src/scheduler.testing';
import { requirePython, scriptPath } from './third-party/python';

const key = 'Q7-effect-url-key-of-these-tests-9fK2';
const retries = { retry: { initial_backoff: '10ms', max_backoff: '20ms', max_retries: 2 } };
const call = 'c'.repeat(32);

/** Gateway, scheduler and workers on one Redis and one NATS. */
describe('effects', () => {
  const api = useApi({ env: { SVC_DATA_URL_KEY: key } });
  const stops: (() => unknown)[] = [];
  let made: string[];
  beforeEach(async () => {
    made = [];
    const dir = mkdtempSync(join(tmpdir(), 'svc-test-effects-'));
    stops.push(() => rmSync(dir, { recursive: true }));
    const policyPath = join(dir, 'safety.yaml');
    writeFileSync(policyPath, "version: '1'\ndefault_decision: allow\n");
    const { redisUrl, natsUrl } = api.servers;
    const env = { dataUrlKey: key, dataUrlBase: api.url, workerHeartbeatTtlMs: 1_000 };
    const scheduler = await startScheduler({ redisUrl, natsUrl, policyPath, broken: new Set() }, { env });
    stops.push(() => scheduler.stop());
  });
  afterEach(async () => {
    for (const stop of stops.reverse().splice(0)) await stop();
  });

  const admin = () => api.as('admin');
  const quickRetries = () => admin().put('/api/v1/config', { scope: 'org', scope_id: 'acme', data: retries });
  const submit = async (body: object = {}): Promise<string> =>
    String((await admin().post('/api/v1/jobs', { topic: 'job.demo.pay', prompt: 'hello', ...body })).body['job_id']);
  const until = (id: string, state: JobState) =>
    eventually(async () => {
      const job = await api.store.jobs.load(id);
      expect(job).toMatchObject({ state });
      return job;
    }, { withinMs: 15_000 }); // prettier-ignore
  const sdkWorker = async (handler: (job: Job) => unknown, over: Partial<WorkerOptions> = {}) => {
    const worker = createWorker({
      ...{ id: 'w1', pool: 'main', topics: { 'job.>': handler }, natsUrl: api.servers.natsUrl },
      ...{ redisUrl: api.servers.redisUrl, effects: true },
      ...{ heartbeatMs: 100, graceMs: 500, signals: [], onError: () => undefined, ...over },
    });
    await worker.start();
    stops.push(() => worker.stop());
    return worker;
  };
  const rawWorker = async (id = 'w1', labels: Record<string, string> = {}) => {
    const worker = await startRawWorker(api.servers.natsUrl, { id, max: 4, labels });
    stops.push(() => worker.stop());
    return worker;
  };
  /** Makes the effect `charge`, and counts how often. */
  const pay = (job: Job, result: unknown = { paid: true }) =>
    job.effect('charge', () => {
      made.push(job.jobId);
      return result;
    });
  const report = async (request: JobRequest, body: object, job = request.job_id) => {
    const url = (request.env[dataUrlEnv.effect] ?? '').replace(request.job_id, job);
    const headers = { 'Content-Type': 'application/json' };
    const answer = await fetch(url, {
      method: 'POST',
      headers,
      body: JSON.stringify({ key: 'charge', call, ...body }),
    });
    const view = (await answer.json()) as Record<string, unknown>;
    return [answer.status, view['code'] ?? view['state']];
  };
  const list = async (query = '') =>
    (await admin().get(`/api/v1/effects${query}`)).body['items'] as Record<string, unknown>[];
  const ofJob = async (id: string) =>
    (await admin().get(`/api/v1/jobs/${id}/effects`)).body['items'] as Record<string, unknown>[];
  const settle = (id: unknown, body: object, as = admin()) =>
    as.post(`/api/v1/effects/${String(id)}/settle`, { reason: 'bank statement', ...body });
  const outcome = async (id: string) => (await admin().get(`/api/v1/jobs/${id}`)).body['outcome'];
  /** A job whose worker was killed after it had recorded the intent of `charge`. */
  const killedInEffect = async (body: object = {}) => {
    const lost = await rawWorker();
    const id = await submit(body);
    const request = await lost.dispatched(id);
    expect(await report(request, { op: 'begin' })).toEqual([200, 'begun']);
    await lost.stop();
    return { id, request };
  };
  /** The same, after the next worker asked for the effect. */
  const unknownEffect = async (handler: (job: Job) => unknown = (job) => pay(job)) => {
    const { id, request } = await killedInEffect();
    await sdkWorker(handler, { id: 'w2' });
    await until(id, 'FAILED');
    const [effect] = await list();
    return { id, request, effect: effect?.['id'] };
  };

  it('are made once: a retry gets the recorded result', async () => {
    await quickRetries();
    const results: unknown[] = [];
    await sdkWorker(async (job) => {
      const both = await Promise.all([pay(job, { attempt: job.attempt }), pay(job)]);
      results.push(...both);
      if (job.attempt === 1) throw new RetryableError('busy');
      return both[0];
    });

    const id = await submit();
    await until(id, 'SUCCEEDED');

    expect(made).toEqual([id]);
    expect(results).toEqual([{ attempt: 1 }, { attempt: 1 }, { attempt: 1 }, { attempt: 1 }]);
    expect(await ofJob(id)).toMatchObject([{ key: 'charge', state: 'done', result: { attempt: 1 }, attempt: 1 }]);
    expect(await outcome(id)).toBeUndefined();
    expect(await list()).toEqual([]);
  });

  it('are not repeated when the worker was killed between intent and result: the job ends, and its outcome is unknown', async () => {
    const { id } = await unknownEffect();

    expect(made).toEqual([]);
    expect(await api.store.jobs.load(id)).toMatchObject({ error_code: 'outcome_unknown', outcome: 'unknown' });
    expect(await outcome(id)).toBe('unknown');
    expect(await list()).toMatchObject([{ job_id: id, key: 'charge', state: 'unknown', worker_id: 'w1', attempt: 1 }]);
  });

  it('that happened return the result of the operator to a retry', async () => {
    const seen: unknown[] = [];
    const { id, effect } = await unknownEffect(async (job) => seen.push(await pay(job)));

    const { status, body } = await settle(effect, { outcome: 'happened', result: { paid: 7 } });

    expect([status, body['effect']]).toMatchObject([
      200,
      { state: 'happened', settled_by: 'ann', reason: 'bank statement', result: { paid: 7 } },
    ]);
    expect(await outcome(id)).toBe('settled');
    const retried = String((await admin().post(`/api/v1/dlq/${id}/retry`)).body['job_id']);
    await until(retried, 'SUCCEEDED');
    expect([made, seen]).toEqual([[], [{ paid: 7 }]]);
    expect(await ofJob(retried)).toEqual(await ofJob(id));
  });

  it('that did not happen are made by a retry', async () => {
    const { id, effect } = await unknownEffect();

    await settle(effect, { outcome: 'not_happened' });

    const retried = String((await admin().post(`/api/v1/dlq/${id}/retry`)).body['job_id']);
    await until(retried, 'SUCCEEDED');
    expect(made).toEqual([retried]);
    expect(await ofJob(id)).toMatchObject([{ state: 'done', job_id: retried, result: { paid: true } }]);
  });

  it('that are settled with retry submit the job again, once', async () => {
    const { id, effect } = await unknownEffect();

    const answers = await Promise.all([settle(effect, { outcome: 'retry' }), settle(effect, { outcome: 'retry' })]);

    const retried = answers.flatMap(({ body }) => body['retry_job_id'] ?? []);
    expect(new Set(retried).size).toBe(1);
    await until(String(retried[0]), 'SUCCEEDED');
    expect(made).toEqual([retried[0]]);
    expect(await outcome(id)).toBe('settled');
  });

  it('are settled once: another outcome is refused, by name of the state', async () => {
    const { effect } = await unknownEffect();

    const first = await settle(effect, { outcome: 'happened' });
    const again = await settle(effect, { outcome: 'happened' });
    const other = await settle(effect, { outcome: 'not_happened' });

    expect([first.status, again.status]).toEqual([200, 200]);
    expect([other.status, other.body['code'], other.body['state']]).toEqual([409, 'effect_settled', 'happened']);
    expect((await settle(effect, { outcome: 'happened', reason: ' ' })).status).toBe(400);
    expect((await settle('missing', { outcome: 'happened' })).status).toBe(404);
    expect((await settle(effect, { outcome: 'happened' }, api.as('viewer'))).status).toBe(403);
    const long = await settle(effect, { outcome: 'happened', result: 'x'.repeat(20_000) });
    expect([long.status, long.body['code']]).toEqual([400, 'effect_result_invalid']);
  });

  it('of a cancelled job are unknown with its end; a late result of its worker still counts', async () => {
    const worker = await rawWorker();
    const id = await submit();
    const request = await worker.dispatched(id);
    await report(request, { op: 'begin' });
    await until(id, 'RUNNING');

    await admin().post(`/api/v1/jobs/${id}/cancel`);

    expect(await outcome(id)).toBe('unknown');
    expect(await list()).toMatchObject([{ job_id: id, state: 'unknown' }]);
    expect(await report(request, { op: 'begin', key: 'other' })).toEqual([409, 'job_not_in_flight']);
    expect(await report(request, { op: 'finish', result: '1' })).toEqual([200, 'done']);
    expect(await report(request, { op: 'finish', result: '1' })).toEqual([200, 'done']);
    expect([await outcome(id), await list()]).toEqual(['settled', []]);
    expect(await ofJob(id)).toMatchObject([{ state: 'done', result: 1 }]);
  });

  it('expire with their job', async () => {
    await sdkWorker((job) => pay(job));

    const id = await submit();
    await until(id, 'SUCCEEDED');

    const [effect] = await ofJob(id);
    const ttls = [keys.job(id), keys.effect(String(effect?.['id'])), keys.effectsOf(`job:${id}`)];
    const [job = 0, ...others] = await Promise.all(ttls.map((name) => api.store.redis.ttl(name)));
    expect(job).toBeGreaterThan(0);
    for (const ttl of others) expect(Math.abs(ttl - job)).toBeLessThan(3);
  });

  it('whose function states that nothing happened are made again by the next attempt', async () => {
    await quickRetries();
    await sdkWorker((job) =>
      job.effect('charge', () => {
        made.push(String(job.attempt));
        if (job.attempt === 1) throw new NotAppliedError('connection refused');
        return job.attempt;
      }),
    );

    const id = await submit();
    await until(id, 'SUCCEEDED');

    expect(made).toEqual(['1', '2']);
    expect(await ofJob(id)).toMatchObject([{ state: 'done', result: 2 }]);
  });

  it('whose function fails for another reason are unknown', async () => {
    await sdkWorker((job) =>
      job.effect('charge', () => {
        throw new Error('timeout of the bank');
      }),
    );

    const id = await submit();
    await until(id, 'FAILED');

    expect(await list()).toMatchObject([{ job_id: id, state: 'unknown' }]);
  });

  it('are limited: a result that is too large fails the job after it was recorded as none', async () => {
    await sdkWorker((job) => pay(job, 'x'.repeat(20_000)));

    const id = await submit();
    await until(id, 'FAILED');

    expect(await api.store.jobs.load(id)).toMatchObject({ error_code: 'effect_result_too_large' });
    expect(await ofJob(id)).toMatchObject([{ state: 'done' }]);
  });

  it('of other jobs cannot be reported by a hostile worker', async () => {
    const [honest, hostile] = [await rawWorker('w1'), await rawWorker('w2')];
    const [first, second] = [await submit(), await submit()];
    const find = async (id: string) => {
      const all = await eventually(() => {
        const found = [...honest.received, ...hostile.received].find(({ job_id }) => job_id === id);
        if (!found) throw new Error('not dispatched');
        return found;
      });
      return all;
    };
    const [own, other] = [await find(first), await find(second)];
    await report(other, { op: 'begin' });

    // The URL of one job, with the id of another in its path; and reports by another call than the one that began it.
    expect(await report(own, { op: 'finish' }, second)).toEqual([403, 'data_url_forbidden']);
    expect(await report(own, { op: 'begin' }, second)).toEqual([403, 'data_url_forbidden']);
    expect(await report(own, { op: 'finish' })).toEqual([409, 'effect_not_begun']);
    expect(await report(other, { op: 'finish', call: 'd'.repeat(32) })).toEqual([409, 'effect_not_begun']);
    const token = new URL(own.env[dataUrlEnv.result] ?? '').searchParams.get('token') ?? '';
    const url = (own.env[dataUrlEnv.effect] ?? '').replace(/token=.*/, `token=${token}`);
    const swapped = { ...own, env: { ...own.env, [dataUrlEnv.effect]: url } };
    expect(await report(swapped, { op: 'begin' })).toEqual([403, 'data_url_forbidden']);
    expect(await ofJob(second)).toMatchObject([{ state: 'begun' }]);
  });

  it('refuse reports that are no valid report', async () => {
    const worker = await rawWorker();
    const request = await worker.dispatched(await submit());

    for (const body of [
      {},
      { op: 'x' },
      { op: 'begin', key: '' },
      { op: 'begin', key: 'k'.repeat(201) },
      { op: 'begin', call: 'x' },
      { op: 'finish', result: 'x'.repeat(20_000) },
    ]) {
      expect(await report(request, body)).toEqual([400, 'invalid_body']);
    }
    await report(request, { op: 'begin' });
    expect(await report(request, { op: 'finish', result: '{' })).toEqual([400, 'effect_result_invalid']);
    expect(await report(request, { op: 'begin' })).toEqual([200, 'begun']);
    expect(await report(request, { op: 'begin', call: 'd'.repeat(32) })).toEqual([200, 'unknown']);
  });

  it('belong to a tenant', async () => {
    const { id, effect } = await unknownEffect();
    const stranger = api.as('other');

    const codes = [
      await stranger.get(`/api/v1/effects/${String(effect)}`),
      await settle(effect, { outcome: 'happened' }, stranger),
      await stranger.get(`/api/v1/jobs/${id}/effects`),
    ].map(({ status, body }) => [status, body['code']]);

    expect(codes).toEqual([
      [404, 'effect_not_found'],
      [404, 'effect_not_found'],
      [403, 'tenant_access_denied'],
    ]);
    expect((await stranger.get('/api/v1/effects')).body['items']).toEqual([]);
    expect(await list()).toMatchObject([{ state: 'unknown' }]);
  });

  it('need a URL, which a worker with access to the store requests', async () => {
    await sdkWorker((job) => pay(job), { effects: false });

    const id = await submit();
    await until(id, 'FAILED');

    expect(await api.store.jobs.load(id)).toMatchObject({ error_code: 'effects_unavailable' });
  });

  describe('of a worker on sdk/python', () => {
    const python = async (id: string) => {
      const { natsUrl: NATS_URL } = api.servers;
      const names = { WORKER_ID: id, SVC_POOL: 'main', PYTHONPATH: resolve(__dirname, '../sdk/python') };
      const env = { ...process.env, NATS_URL, REDIS_URL: '', ...names };
      const child: ChildProcess = spawnLeashed(requirePython(), [scriptPath('sdk_worker.py')], { env, output: 'pipe' });
      stops.push(() => endChild(child));
      let output = '';
      for (const stream of [child.stdout, child.stderr]) stream?.on('data', (data: Buffer) => (output += String(data)));
      const printed = (text: string) => eventually(() => expect(output).toContain(text), { withinMs: 30_000 });
      await printed('ready');
      return { child, printed, lines: () => output.split('\n').filter((line) => line.startsWith('made ')) };
    };

    it('are made once, and are unknown after it was killed', async () => {
      await quickRetries();
      const worker = await python('p1');

      const id = await submit({ topic: 'job.demo.pay' });
      await until(id, 'SUCCEEDED');
      expect(worker.lines()).toEqual([`made ${id} 1`]);
      expect(await ofJob(id)).toMatchObject([{ state: 'done', result: { paid: true } }]);

      const stuck = await submit({ topic: 'job.demo.stuck' });
      await worker.printed(`made ${stuck} 1`);
      worker.child.kill('SIGKILL');
      const next = await python('p2');
      await until(stuck, 'FAILED');
      expect(await api.store.jobs.load(stuck)).toMatchObject({ error_code: 'outcome_unknown', outcome: 'unknown' });
      expect(next.lines()).toEqual([]);
    });
  });
});
