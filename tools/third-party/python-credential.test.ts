import { endChild, eventually, spawnLeashed } from '@svc/testing';
import type { ChildProcess } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { Client } from '../demo/client';
import { startStack, type Stack } from '../stack';
import { coreServices } from '../stack/settings';
import { requirePython, scriptPath } from './python';

jest.setTimeout(60_000);

const services = coreServices.filter(({ name }) => name === 'scheduler' || name === 'api');
const patience = { withinMs: 30_000 };

/** The built gateway and scheduler, which let in no worker without a credential. */
describe('a worker on sdk/python with its credential only', () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'svc-python-credential-'));
  let stack: Stack;
  let worker: ChildProcess;
  let output = '';

  beforeAll(async () => {
    const env = { PATH: process.env['PATH'], HOME: process.env['HOME'], WORKER_ATTESTATION: 'enforce' };
    stack = await startStack({ dataDir, env, services, tls: false, usualPorts: false });
    const { body } = await admin().post('/api/v1/workers/credentials', { worker_id: 'py-1', allowed_pools: ['demo'] });
    const own = {
      WORKER_ID: 'py-1',
      WORKER_TOKEN: String(body['token']),
      SVC_POOL: 'demo',
      NATS_URL: `nats://${new URL(stack.info.nats_url).host}`,
      REDIS_URL: `redis://worker-py-1@${new URL(stack.info.redis_url).host}`,
      PYTHONPATH: resolve(__dirname, '../../sdk/python'),
    };
    // Users exist within about a second of their credential; the first connection of this client is not repeated.
    await eventually(async () => {
      if (worker) await endChild(worker);
      output = '';
      worker = spawnLeashed(requirePython(), [scriptPath('sdk_worker.py')], { env: { ...process.env, ...own }, output: 'pipe' }); // prettier-ignore
      for (const stream of [worker.stdout, worker.stderr])
        stream?.on('data', (data: Buffer) => (output += String(data)));
      await eventually(() => expect(output).toContain('ready'), { withinMs: 10_000 });
    }, patience);
  }, 180_000);
  afterAll(async () => {
    if (worker) await endChild(worker);
    await stack?.stop();
    rmSync(dataDir, { recursive: true, force: true });
  }, 30_000);

  const admin = () => new Client(stack.info, 'admin');

  it('runs jobs, and loses its connection when the credential is revoked', async () => {
    const { body } = await admin().post('/api/v1/jobs', { topic: 'job.demo.echo', prompt: 'hello' });
    const path = `/api/v1/jobs/${String(body['job_id'])}`;
    const done = { state: 'SUCCEEDED', worker_id: 'py-1' };
    await eventually(async () => expect((await admin().get(path)).body).toMatchObject(done), patience);
    expect(output).not.toMatch(/NOPERM|WRONGPASS|authorization violation/i);

    await admin().delete('/api/v1/workers/credentials/py-1');

    await eventually(() => expect(output).toMatch(/authorization violation|NATS has closed the connection/i), patience);
  });
});
