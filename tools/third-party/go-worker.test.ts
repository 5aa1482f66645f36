import { jobStatusName } from '@svc/contract';
import { endChild, eventually } from '@svc/testing';
import { execFileSync, type ChildProcess } from 'node:child_process';
import { join, resolve } from 'node:path';
import { patience, useWorkerStack } from './worker-stack.testing';

jest.setTimeout(120_000);

const worker_id = 'go-worker';

/** The worker of examples/workers/go, which uses only published Go packages. */
describe('a worker in Go', () => {
  const use = useWorkerStack({ tls: false, workers: { demo: [worker_id] } });
  const { admin, job, until } = use;
  const program = join(use.dataDir, 'go-worker');
  let worker: ChildProcess | undefined;

  beforeAll(async () => {
    execFileSync(process.execPath, [resolve(__dirname, '../go-worker.mjs'), program], { stdio: 'pipe' });
    await startWorker(use.access(worker_id));
  }, 600_000);

  async function startWorker(addresses: NodeJS.ProcessEnv): Promise<void> {
    const env = { WORKER_ID: worker_id, SVC_POOL: 'demo', ...addresses };
    worker = (await use.start(join(program, 'worker'), [], env)).process;
  }
  const submit = (name: string, prompt?: string) => use.submit(`job.demo.go-${name}`, prompt);
  const results = (id: string) => use.results(id, worker_id);
  async function complete(count: number): Promise<string[]> {
    const ids = await Promise.all(Array.from({ length: count }, (_, i) => submit('echo', `hello ${i}`)));
    for (const id of ids) await until(id, { state: 'SUCCEEDED', attempts: 1, worker_id });
    return ids;
  }

  it('100 jobs complete, each once, with the dispatch echoed', async () => {
    const ids = await complete(100);

    await eventually(() => expect(ids.flatMap(results)).toHaveLength(100), patience);
    const echoed = ids.map((id) => results(id).map(({ dispatch, identity }) => ({ dispatch, identity })));
    expect(new Set(echoed.map(([result]) => result?.dispatch?.dispatch_id)).size).toBe(100);
    const dispatch = expect.objectContaining({ attempt: 1, assigned_worker_id: worker_id }) as object;
    const identity = expect.objectContaining({ tenant_id: use.info().principals.admin.tenant }) as object;
    expect(echoed).toEqual(ids.map(() => [{ dispatch, identity }]));
    const { body } = await admin().get(`/api/v1/memory?ptr=redis://res:${ids[7]}`);
    expect(JSON.stringify(body)).toContain('hello 7');
  });

  it('a retryable failure is retried, and the second attempt succeeds', async () => {
    const id = await submit('flaky');

    await until(id, { state: 'SUCCEEDED', attempts: 2 });

    const ended = () => results(id).map(({ status, dispatch }) => [jobStatusName(status), dispatch?.attempt]);
    const bothAttempts = [
      ['FAILED_RETRYABLE', 1],
      ['SUCCEEDED', 2],
    ];
    await eventually(() => expect(ended()).toEqual(bothAttempts), patience);
  });

  it('progress is stored, and a cancel stops the dispatch it names', async () => {
    const id = await submit('slow');
    await until(id, { state: 'RUNNING', progress_percent: 40, progress_message: 'waiting for a cancel' });

    expect((await admin().post(`/api/v1/jobs/${id}/cancel`)).status).toBe(200);

    await eventually(() => expect(results(id)).toHaveLength(1), patience);
    expect(results(id)[0]).toMatchObject({ dispatch: { assigned_worker_id: worker_id } });
    expect(jobStatusName(results(id)[0]?.status ?? 0)).toBe('CANCELLED');
    expect(await job(id)).toMatchObject({ state: 'CANCELLED' });
  });

  describe('with attestation', () => {
    const metrics = async () => (await fetch(use.info().metrics_urls['scheduler'] ?? '')).text();
    const refusals = async (mode: string) =>
      (await metrics()).split('\n').filter((line) => line.includes('refusals_total{') && line.includes(`"${mode}"`));
    async function attest(mode: string): Promise<void> {
      const data = { boundary_hardening: { worker_attestation: mode } };
      expect((await admin().post('/api/v1/config', { scope: 'system', scope_id: 'default', data })).status).toBe(204);
    }

    it('under `warn`, jobs complete on it without a credential, and its packets are counted', async () => {
      await attest('warn');
      const reasons = () => refusals('warn').then((lines) => lines.join('\n'));
      await eventually(async () => expect(await reasons()).toContain('auth_token_missing'), patience);

      await complete(20);

      expect(await reasons()).toMatch(/kind="job_result".*auth_token_missing|auth_token_missing.*kind="job_result"/);
    });

    it('under `enforce`, jobs complete on it with its credential, and nothing is refused', async () => {
      if (worker) await endChild(worker);
      const grant = { worker_id, allowed_pools: ['demo'] };
      const { body } = await admin().post('/api/v1/workers/credentials', grant);
      const own = {
        WORKER_TOKEN: String(body['token']),
        NATS_URL: `nats://${new URL(use.info().nats_url).host}`,
        REDIS_URL: `redis://worker-${worker_id}@${new URL(use.info().redis_url).host}`,
      };
      await attest('enforce');
      // Users exist within about a second of their credential; the worker does not repeat its first connection.
      await eventually(async () => {
        if (worker) await endChild(worker);
        await startWorker(own);
      }, patience);

      await complete(20);

      expect(await refusals('enforce')).toEqual([]);
    });
  });

  it('no packet was rejected', () => {
    expect(use.rejections()).toEqual([]);
  });
});
