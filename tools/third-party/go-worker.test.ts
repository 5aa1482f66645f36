import { decodePacket, jobStatusName, type Packet } from '@svc/contract';
import { endChild, eventually, isRunning, spawnLeashed } from '@svc/testing';
import { execFileSync, type ChildProcess } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { connect, type NatsConnection } from 'nats';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { Client } from '../demo/client';
import { startStack, type Stack } from '../stack';
import { coreServices } from '../stack/settings';

jest.setTimeout(120_000);

const services = coreServices.filter(({ name }) => name === 'scheduler' || name === 'api');
const patience = { withinMs: 60_000, everyMs: 50 };
const worker_id = 'go-worker';

/** The built gateway and scheduler, with the worker of examples/workers/go, which uses only published Go packages. */
describe('a worker in Go', () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'svc-go-worker-'));
  const program = join(dataDir, 'go-worker');
  const received: Packet[] = [];
  let stack: Stack;
  let connection: NatsConnection;
  let worker: ChildProcess | undefined;

  beforeAll(async () => {
    execFileSync(process.execPath, [resolve(__dirname, '../go-worker.mjs'), program], { stdio: 'pipe' });
    const env = { PATH: process.env['PATH'], HOME: process.env['HOME'], WORKER_READINESS_REQUIRED: 'true' };
    stack = await startStack({ dataDir, env, services, tls: false, usualPorts: false, workers: { demo: [worker_id] } });
    const { nats_url: servers, nats_user: user, nats_password: pass } = stack.info;
    connection = await connect({ servers, user, pass });
    for (const subject of ['sys.job.>', 'sys.alert']) {
      connection.subscribe(subject, {
        callback: (_, { data }) => {
          const decoded = decodePacket(data);
          if (decoded.kind === 'ok') received.push(decoded.packet);
        },
      });
    }
    await connection.flush();
    const access = stack.info.workers['demo']?.find((each) => each.worker_id === worker_id);
    await startWorker({ NATS_URL: access?.nats_url, REDIS_URL: access?.redis_url });
  }, 600_000);
  afterAll(async () => {
    if (worker) await endChild(worker);
    await connection?.close();
    await stack?.stop();
    rmSync(dataDir, { recursive: true, force: true });
  }, 30_000);

  async function startWorker(addresses: NodeJS.ProcessEnv): Promise<void> {
    const env = { ...process.env, WORKER_ID: worker_id, SVC_POOL: 'demo', ...addresses };
    const child = spawnLeashed(join(program, 'worker'), [], { env, output: 'pipe' });
    worker = child;
    let output = '';
    for (const stream of [child.stdout, child.stderr]) stream?.on('data', (data: Buffer) => (output += String(data)));
    const isReady = () => output.includes('ready');
    await eventually(() => {
      if (!isReady() && isRunning(child)) throw new Error(`the worker is not ready: ${output}`);
    }, patience);
    if (!isReady()) throw new Error(`the worker has ended: ${output}`);
  }

  const admin = () => new Client(stack.info, 'admin');
  async function submit(name: string, prompt = 'hello'): Promise<string> {
    const { status, body } = await admin().post('/api/v1/jobs', { topic: `job.demo.go-${name}`, prompt });
    expect([status, body]).toEqual([200, expect.objectContaining({ job_id: expect.any(String) as string })]);
    return String(body['job_id']);
  }
  const job = async (id: string) => (await admin().get(`/api/v1/jobs/${id}`)).body;
  const until = (id: string, fields: object) =>
    eventually(async () => expect(await job(id)).toMatchObject(fields), patience);
  const results = (id: string) =>
    received.flatMap(({ kind, sender_id, body }) =>
      kind === 'job_result' && sender_id === worker_id && body.job_id === id ? [body] : [],
    );
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
    const identity = expect.objectContaining({ tenant_id: stack.info.principals.admin.tenant }) as object;
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
    const metrics = async () => (await fetch(stack.info.metrics_urls['scheduler'] ?? '')).text();
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
        NATS_URL: `nats://${new URL(stack.info.nats_url).host}`,
        REDIS_URL: `redis://worker-${worker_id}@${new URL(stack.info.redis_url).host}`,
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
    const alerts = received.flatMap(({ kind, body }) => (kind === 'alert' && 'error_code_enum' in body ? [body] : []));
    expect(alerts.filter(({ error_code_enum: code }) => code >= 100 && code < 200)).toEqual([]);
  });
});
