import { credentials, loadPackageDefinition, type ChannelCredentials } from '@grpc/grpc-js';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chromium } from 'playwright-core';
import { startStack, type Stack } from '../stack';
import { Client } from './client';
import { scenarios, type World } from './scenarios';
import { demoWorkers, Workers } from './workers';
import { workflowScenarios } from './workflow-scenarios';

const quiet = [
  '--no-sandbox', '--disable-dev-shm-usage', '--disable-gpu', '--disable-quic', '--no-first-run',
  '--disable-background-networking', '--disable-component-update', '--disable-sync',
]; // prettier-ignore
const browserPath = process.env['CHROMIUM_PATH'] ?? '/usr/bin/chromium';

/** The whole product as a user runs it: built, over TLS, with service and worker processes. */
describe('the running stack', () => {
  let stack: Stack;
  let workers: Workers;
  let world: World;
  const dataDir = mkdtempSync(join(tmpdir(), 'svc-e2e-'));

  beforeAll(async () => {
    const env = { PATH: process.env['PATH'], HOME: process.env['HOME'], WORKER_HEARTBEAT_TTL: '3s' };
    stack = await startStack({ dataDir, kernel: true, env, usualPorts: false, workers: demoWorkers });
    workers = await Workers.prepare(stack.info);
    await Promise.all(['crane-1', 'crane-2'].map((id) => workers.start(id)));
    world = {
      baseUrl: stack.info.base_url,
      admin: new Client(stack.info, 'admin'),
      approver: new Client(stack.info, 'approver'),
      operator: new Client(stack.info, 'operator'),
      workers,
      report: () => undefined,
      show: () => undefined,
      say: () => undefined,
    };
  }, 180_000);
  afterAll(async () => {
    await workers?.stop();
    await stack?.stop();
    rmSync(dataDir, { recursive: true, force: true });
  }, 30_000);

  it.each([...scenarios, ...workflowScenarios].map((scenario) => [scenario.name, scenario.promise, scenario] as const))(
    'demo: %s ends as expected: %s',
    async (_name, _promise, scenario) => {
      expect(await scenario.run(world)).toMatchObject({ ok: true });
    },
    60_000,
  );

  it('every service is ready and serves its metrics', async () => {
    for (const url of Object.values(stack.info.metrics_urls)) {
      expect(await plain(url.replace('/metrics', '/readyz'))).toMatchObject({ status: 200 });
      expect((await plain(url)).text).toContain('svc_build_info');
    }
    expect((await world.admin.get('/readyz')).status).toBe(200);
    expect((await world.admin.get('/api/v1/status')).body).toMatchObject({ nats_status: 'CONNECTED' });
  });

  it('gRPC health checks of gateway and kernel need no credentials', async () => {
    const tls = credentials.createSsl(readFileSync(stack.info.ca_file));

    expect(await grpcHealth(stack.info.grpc_addr, tls)).toBe('SERVING');
  });

  it('a browser signs in to Bull Board with the key, and opens the API viewer', async () => {
    const browser = await chromium.launch({ executablePath: browserPath, args: quiet });
    try {
      const page = await browser.newPage({ ignoreHTTPSErrors: true });
      await page.goto(`${stack.info.base_url}/admin/queues`);
      await page.getByLabel('API key').fill(stack.info.keys.admin);
      await page.getByRole('button', { name: 'Sign in' }).click();
      await page.getByText('Waiting for a worker').first().waitFor();
      await page.goto(`${stack.info.base_url}/swagger/`);
      await page.getByText('/api/v1/jobs/{id}/cancel').first().waitFor();
    } finally {
      await browser.close();
    }
  }, 60_000);

  it('runs jobs that were accepted while the scheduler was down', async () => {
    await stack.kill('scheduler');
    const submitted = await world.admin.post('/api/v1/jobs', { prompt: 'while the scheduler is down' });
    await stack.untilReady('scheduler');

    const id = String(submitted.body['job_id']);
    const state = async () => (await world.admin.get(`/api/v1/jobs/${id}`)).body['state'];
    const endMs = Date.now() + 40_000;
    while ((await state()) !== 'SUCCEEDED' && Date.now() < endMs) await new Promise((r) => setTimeout(r, 100));
    expect([submitted.status, await state()]).toEqual([200, 'SUCCEEDED']);
  }, 60_000);
});

const plain = (url: string) =>
  new Promise<{ status: number; text: string }>((done, failed) => {
    request(url, (res) => {
      let text = '';
      res.on('data', (part: Buffer) => (text += part.toString()));
      res.once('end', () => done({ status: res.statusCode ?? 0, text }));
    })
      .once('error', failed)
      .end();
  });

interface HealthClient {
  check(request: { service: string }, done: (error: Error | null, answer: { status: string }) => void): void;
  close(): void;
}

async function grpcHealth(address: string, channel: ChannelCredentials): Promise<string> {
  const { protoPath } = await import('grpc-health-check');
  const { loadSync } = await import('@grpc/proto-loader');
  const loaded = loadPackageDefinition(loadSync(protoPath, { enums: String })) as unknown as {
    grpc: { health: { v1: { Health: new (address: string, channel: ChannelCredentials) => HealthClient } } };
  };
  const client = new loaded.grpc.health.v1.Health(address, channel);
  try {
    return await new Promise((done, failed) =>
      client.check({ service: '' }, (error, answer) => (error ? failed(error) : done(answer.status))),
    );
  } finally {
    client.close();
  }
}
