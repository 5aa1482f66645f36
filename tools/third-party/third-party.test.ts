import { encodePacket, jobRequestPacket, jobStatusName, toJobStatus } from '@svc/contract';
import { eventually } from '@svc/testing';
import { join } from 'node:path';
import { installPythonSdk, requirePython, scriptPath } from './python';
import { patience, type StartedWorker, useWorkerStack } from './worker-stack.testing';

jest.setTimeout(120_000);

/**
 * Workers that use only the published Python package, and one on sdk/python, each with the credentials that the stack created
 * for it.
 */
describe('workers in Python', () => {
  const use = useWorkerStack({
    // Signatures and sessions warn from the start, attestation from the end of the first part.
    env: { WORKER_READINESS_TTL: '1h', SVC_PACKET_SIGNATURES: 'warn' },
    workers: { demo: ['py-worker', 'py-agent', 'py-sdk'] },
  });
  const { admin, job, submit, until, results } = use;
  const packages = join(use.dataDir, 'python-sdk');
  let sdk: StartedWorker;

  beforeAll(async () => {
    installPythonSdk(packages);
    await Promise.all([startWorker('worker.py', 'py-worker'), startWorker('agent.py', 'py-agent'), startSdkWorker()]);
  }, 180_000);

  const startWorker = (script: string, id: string, more: NodeJS.ProcessEnv = {}) =>
    use.start(requirePython(), [scriptPath(script)], { ...use.access(id), WORKER_ID: id, ...more });

  async function startSdkWorker(): Promise<void> {
    const env = { PYTHONPATH: packages, SDK_PREFIX: 'sdk-', SVC_POOL: 'demo' };
    sdk = await startWorker('sdk_worker.py', 'py-sdk', env);
  }
  const runs = (id: string) => sdk.output().match(new RegExp(`ran ${id} `, 'g'))?.length ?? 0;

  /** The job's state may be readable before this test has received the result. */
  const onlyResult = (id: string, worker: string) =>
    eventually(() => {
      const found = results(id, worker);
      expect(found).toHaveLength(1);
      return found[0];
    }, patience);
  const storedResult = async (id: string) => (await admin().get(`/api/v1/memory?ptr=redis://res:${id}`)).body;

  it('200 jobs complete, each once, with the dispatch echoed', async () => {
    const ids = await Promise.all(Array.from({ length: 200 }, (_, i) => submit('job.demo.echo', `hello ${i}`)));

    for (const id of ids) await until(id, { state: 'SUCCEEDED', attempts: 1, worker_id: 'py-worker' });

    const echoes = () =>
      ids.map((id) => results(id, 'py-worker').map(({ dispatch, identity }) => ({ dispatch, identity })));
    const echoed = await eventually(() => {
      const receivedOfAll = echoes();
      expect(receivedOfAll.flat()).toHaveLength(200);
      return receivedOfAll;
    }, patience);
    expect(new Set(echoed.map(([result]) => result?.dispatch?.dispatch_id)).size).toBe(200);
    const dispatch = expect.objectContaining({ attempt: 1, assigned_worker_id: 'py-worker' }) as object;
    const identity = expect.objectContaining({ tenant_id: use.info().principals.admin.tenant }) as object;
    expect(echoed).toEqual(ids.map(() => [{ dispatch, identity }]));
    expect(JSON.stringify(await storedResult(ids[7] ?? ''))).toContain('hello 7');
  });

  it('a retryable failure is retried, and the second attempt succeeds', async () => {
    const id = await submit('job.demo.flaky');

    await until(id, { state: 'SUCCEEDED', attempts: 2 });

    const ended = () =>
      results(id, 'py-worker').map(({ status, dispatch }) => [jobStatusName(status), dispatch?.attempt]);
    const bothAttempts = [
      ['FAILED_RETRYABLE', 1],
      ['SUCCEEDED', 2],
    ];
    await eventually(() => expect(ended()).toEqual(bothAttempts), patience);
  });

  it('progress is stored, and a cancel stops the dispatch it names', async () => {
    const id = await submit('job.demo.slow');
    await until(id, { state: 'RUNNING', progress_percent: 40, progress_message: 'waiting for a cancel' });

    const { status } = await admin().post(`/api/v1/jobs/${id}/cancel`);

    expect(status).toBe(200);
    await eventually(() => expect(results(id, 'py-worker')).toHaveLength(1), patience);
    const [result] = results(id, 'py-worker');
    expect(jobStatusName(result?.status ?? 0)).toBe('CANCELLED');
    expect(use.cancels(id)[0]).toEqual(result?.dispatch);
    expect(await job(id)).toMatchObject({ state: 'CANCELLED' });
  });

  it('the package’s high-level agent, which echoes no dispatch, completes jobs too', async () => {
    const ids = await Promise.all(Array.from({ length: 20 }, (_, i) => submit('job.demo.agent', `hello ${i}`)));

    for (const id of ids) await until(id, { state: 'SUCCEEDED', attempts: 1, worker_id: 'py-agent' });

    const echoed = () => ids.flatMap((id) => results(id, 'py-agent').map(({ dispatch }) => dispatch));
    await eventually(() => expect(echoed()).toEqual(Array(20).fill(undefined)), patience);
    expect(JSON.stringify(await storedResult(ids[3] ?? ''))).toContain('hello 3');
  });

  describe('on sdk/python', () => {
    it('jobs succeed, also with large inputs and results, artifacts and costs', async () => {
      const ids = await Promise.all(Array.from({ length: 50 }, (_, i) => submit('job.demo.sdk-echo', `hello ${i}`)));
      const large = await submit('job.demo.sdk-echo', 'large', { text: 'x'.repeat(300_000) });
      const report = await submit('job.demo.sdk-report', 'attached');

      for (const id of [...ids, large, report])
        await until(id, { state: 'SUCCEEDED', attempts: 1, worker_id: 'py-sdk' });

      expect(ids.map(runs)).toEqual(ids.map(() => 1));
      expect(JSON.stringify(await storedResult(ids[7] ?? ''))).toContain('hello 7');
      expect(JSON.stringify(await storedResult(large)).length).toBeGreaterThan(300_000);
      const { artifact_ptrs } = await job(report);
      expect(artifact_ptrs).toEqual([expect.stringMatching(/^redis:\/\/art:/)]);
      expect(await onlyResult(report, 'py-sdk')).toMatchObject({
        cost_usd: 0.25,
        dispatch: { assigned_worker_id: 'py-sdk' },
      });
    });

    it('failures set the status, and a retryable one is retried', async () => {
      const [flaky, broken] = await Promise.all([submit('job.demo.sdk-flaky'), submit('job.demo.sdk-broken')]);

      await until(flaky, { state: 'SUCCEEDED', attempts: 2 });
      await until(broken, { state: 'FAILED', attempts: 1 });

      expect(await onlyResult(broken, 'py-sdk')).toMatchObject({
        status: toJobStatus('FAILED_FATAL'),
        error_code: 'broken',
        error_code_enum: 1_234,
        error_message: 'broken',
      });
    });

    it('progress is stored, and a cancel interrupts the handler', async () => {
      const id = await submit('job.demo.sdk-slow');
      await until(id, { state: 'RUNNING', progress_percent: 40, progress_message: 'waiting' });

      await admin().post(`/api/v1/jobs/${id}/cancel`);

      await eventually(() => expect(results(id, 'py-sdk')).toHaveLength(1), patience);
      expect(jobStatusName(results(id, 'py-sdk')[0]?.status ?? 0)).toBe('CANCELLED');
    });

    it('a repeated dispatch is not executed again', async () => {
      const id = await submit('job.demo.sdk-echo', 'once');
      await until(id, { state: 'SUCCEEDED' });
      const result = await onlyResult(id, 'py-sdk');
      const draft = { job_id: id, topic: 'job.demo.sdk-echo', tenant_id: 'default', dispatch: result?.dispatch };
      const repeat = jobRequestPacket({ trace_id: 't', sender_id: 'scheduler', nowUs: Date.now() * 1_000 }, draft);

      await use
        .connection()
        .jetstream()
        .publish('worker.py-sdk.jobs', encodePacket(repeat), { msgID: `${id}-repeated` });

      await eventually(() => expect(results(id, 'py-sdk')).toHaveLength(2), patience);
      expect(results(id, 'py-sdk')[1]).toEqual(result);
      expect(runs(id)).toBe(1);
    });

    it('a drain finishes running jobs, and jobs that arrive during it run after the restart', async () => {
      const running = await submit('job.demo.sdk-slow', 'last', { seconds: 2 });
      await until(running, { state: 'RUNNING' });
      await eventually(() => expect(runs(running)).toBe(1), patience);
      const before = sdk;

      before.process.kill('SIGTERM');
      const waiting = await Promise.all(Array.from({ length: 20 }, () => submit('job.demo.sdk-echo', 'later')));
      await until(running, { state: 'SUCCEEDED', attempts: 1 });
      await eventually(() => expect(before.process.exitCode).toBe(0), patience);
      await startSdkWorker();

      for (const id of waiting) await until(id, { state: 'SUCCEEDED', worker_id: 'py-sdk' });
      const executions = waiting.map((id) => before.output().split(`ran ${id} `).length - 1 + runs(id));
      expect(executions).toEqual(waiting.map(() => 1));
    });

    it('its log names job and trace, and no credentials', async () => {
      const id = await submit('job.demo.sdk-echo', 'logged');
      await until(id, { state: 'SUCCEEDED' });
      const result = await onlyResult(id, 'py-sdk');
      expect(sdk.output()).toContain(`[job_id=${id} attempt=1 dispatch_id=${result?.dispatch?.dispatch_id} trace_id=`);
      const secrets = Object.values(use.info().workers).flatMap((all) =>
        all.map(({ nats_url }) => new URL(nats_url).password),
      );
      expect(secrets.length).toBeGreaterThan(0);
      expect(secrets.filter((secret) => secret !== '' && sdk.output().includes(secret))).toEqual([]);
    });
  });

  describe('while attestation warns', () => {
    const refusals = async () => (await fetch(use.info().metrics_urls['scheduler'] ?? '')).text();
    const counted = (kind: string, reason: string) =>
      new RegExp(
        `^svc_scheduler_worker_refusals_total\\{(?=.*kind="${kind}")(?=.*reason="${reason}")(?=.*mode="warn")`,
        'm',
      );

    beforeAll(async () => {
      const data = { boundary_hardening: { worker_attestation: 'warn' } };
      expect((await admin().post('/api/v1/config', { scope: 'system', scope_id: 'default', data })).status).toBe(204);
      await eventually(
        async () => expect(await refusals()).toMatch(counted('heartbeat', 'auth_token_missing')),
        patience,
      );
    });

    it.each([
      ['job.demo.echo', 'py-worker'],
      ['job.demo.agent', 'py-agent'],
      ['job.demo.sdk-echo', 'py-sdk'],
    ])('jobs of %s complete on %s, which has no credential and no key', async (topic, worker_id) => {
      const ids = await Promise.all(Array.from({ length: 20 }, (_, i) => submit(topic, `hello ${i}`)));

      for (const id of ids) await until(id, { state: 'SUCCEEDED', attempts: 1, worker_id });
    });

    it('and their packets are counted', async () => {
      const text = await refusals();
      for (const kind of ['heartbeat', 'job_result'])
        for (const reason of ['auth_token_missing', 'signature_missing']) expect(text).toMatch(counted(kind, reason));
    });
  });

  it('no packet was rejected', () => {
    expect(use.rejections()).toEqual([]);
  });
});
