import { createOutboundClient } from '@svc/outbound';
import { runTelemetry } from '@svc/telemetry';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { useApi } from '../api.testing';
import { statusAndCode } from '../caller.testing';

const path = '/api/v1/telemetry';
const hourMs = 3_600_000;

describe('telemetry', () => {
  const api = useApi();
  const received: string[] = [];
  let receiver: Server;
  beforeAll(async () => {
    receiver = createServer((req, res) => {
      const chunks: Buffer[] = [];
      req.on('data', (chunk: Buffer) => chunks.push(chunk));
      req.on('end', () => {
        received.push(Buffer.concat(chunks).toString('utf8'));
        res.writeHead(204).end();
      });
    });
    await new Promise<void>((done) => receiver.listen(0, '127.0.0.1', done));
  });
  afterAll(() => new Promise((done) => receiver.close(done)));
  beforeEach(() => received.splice(0));

  let laterMs = 0;
  beforeEach(() => (laterMs = 0));
  const run = (mode = 'local_only') => {
    const { telemetry } = api.ctx;
    const endpoint = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`;
    return runTelemetry({
      ...telemetry,
      clock: { nowMs: () => Date.now() + laterMs, nowUs: () => (Date.now() + laterMs) * 1_000 },
      settings: { ...telemetry.settings, mode, endpoint },
      outbound: createOutboundClient({ allow: ['127.0.0.1'] }),
    });
  };
  const consent = (mode: string) => api.as('admin').post(`${path}/consent`, { mode });
  const raw = async (route: string) => {
    const headers = { 'X-API-Key': 'key-of-the-admin-0000000001' };
    const response = await fetch(`${api.url}${path}/${route}`, { headers });
    return { text: await response.text(), disposition: response.headers.get('content-disposition') };
  };

  it('sends nothing without consent, whatever else happens, and says what it would send', async () => {
    expect((await api.as('admin').get(`${path}/status`)).body).toEqual({ mode: 'local_only' });
    expect((await raw('inspect')).text).toBe('null');
    expect((await api.as('admin').get(`${path}/usage`)).body).toEqual({});

    expect(await run()).toBe('collected');
    for (const mode of ['off', 'disabled', 'local-only']) {
      await consent(mode);
      laterMs += 30 * hourMs;
      expect(await run('anonymous')).not.toBe('sent');
    }

    expect(received).toEqual([]);
    expect((await api.as('admin').get(`${path}/status`)).body).toMatchObject({ mode: 'local_only' });
  });

  it('sends exactly the bytes that inspect and export return, once a day, after consent', async () => {
    await api.given.job({ state: 'SUCCEEDED', topic: 'job.secret-topic' });
    expect((await consent('anon')).body).toEqual({ status: 'updated', mode: 'anonymous' });

    expect([await run(), await run()]).toEqual(['sent', 'idle']);
    const [inspected, exported] = [await raw('inspect'), await raw('export')];

    expect(received).toEqual([inspected.text]);
    expect(exported.text).toBe(inspected.text);
    expect(exported.disposition).toBe('attachment; filename="svc-telemetry.json"');
    const snapshot = JSON.parse(inspected.text) as Record<string, unknown>;
    expect(snapshot).toMatchObject({
      ...{
        schema_version: 1,
        mode: 'anonymous',
        tier: 'community',
        install_id: expect.stringMatching(/^[0-9a-f]{64}$/),
      },
      usage: { jobs_last_24h: 1, active_jobs: 0 },
      engagement: { workflows_configured: 0 },
    });
    expect(inspected.text).not.toMatch(/acme|secret-topic|127\.0\.0\.1/);
    expect((await api.as('admin').get(`${path}/usage`)).body).toMatchObject({ usage: { jobs_last_24h: 1 } });
    laterMs = 25 * hourMs;
    expect(await run()).toBe('sent');
  });

  it('sends no more than the license allows', async () => {
    api.license('team', { telemetry_mode: 'local_only' });

    expect((await consent('anonymous')).body).toEqual({ status: 'updated', mode: 'local_only' });
    await run();

    expect(received).toEqual([]);
  });

  it('400: an unknown mode; 403: admins of other tenants', async () => {
    expect(statusAndCode(await consent('everything'))).toEqual({ status: 400, code: 'telemetry_mode_unknown' });
    expect(statusAndCode(await api.as('other').get(`${path}/status`))).toEqual({
      status: 403,
      code: 'tenant_access_denied',
    });
  });
});
