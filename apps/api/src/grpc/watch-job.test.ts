import { grpcServices } from '@svc/contract';
import { serviceDefinition } from '@svc/grpc';
import { Client, credentials, Metadata, status, type ServiceError } from '@grpc/grpc-js';
import { apiEnv, Health, readEnv, silentLogger, systemClock } from '@svc/runtime';
import { eventually } from '@svc/testing';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { useApi } from '../api.testing';
import { caller } from '../caller.testing';
import { identities } from '../identities.testing';
import { startGrpcServer, type ApiGrpcServer } from './server';

type Answer = Record<string, unknown>;

const hourMs = 3_600_000;
const leaver = 'key-of-a-leaver-of-acme-00000001';

describe('WatchJob', () => {
  const dir = mkdtempSync(join(tmpdir(), 'watch-'));
  const keyFile = join(dir, 'keys');
  writeFileSync(keyFile, `acme:${leaver}:viewer`);
  afterAll(() => rmSync(dir, { recursive: true }));
  const api = useApi({ env: { SVC_API_KEYS_PATH: keyFile } });
  let server: ApiGrpcServer | undefined;
  let client: Client | undefined;

  const start = async (intervals: { readEveryMs: number; recheckEveryMs: number }, env: Record<string, string> = {}) => {
    const clock = systemClock();
    const { values } = readEnv(apiEnv, { GATEWAY_GRPC_ADDR: '127.0.0.1:0', ...env });
    const boot = { env: values, log: silentLogger, health: new Health({ clock }), clock };
    server = await startGrpcServer(boot, api.ctx, api.options, intervals);
    client = new Client(`127.0.0.1:${server.port}`, credentials.createInsecure());
  }; // prettier-ignore
  beforeEach(async () => {
    writeFileSync(keyFile, `acme:${leaver}:viewer`);
    // The file is polled, and a previous test changed it.
    const ask = caller(api.url, { 'X-API-Key': leaver, 'X-Tenant-ID': 'acme' });
    await eventually(async () => expect((await ask.get('/api/v1/jobs')).status).toBe(200));
  });
  afterEach(async () => {
    client?.close();
    await server?.close();
  });

  const watch = (jobId: string, key: string) => {
    const method = serviceDefinition(grpcServices.gateway)['WatchJob'];
    if (!method || !client) throw new Error('not started');
    const metadata = new Metadata();
    metadata.set('x-api-key', key);
    const events: unknown[] = [];
    const call = client.makeServerStreamRequest<object, Answer>(
      method.path,
      method.requestSerialize,
      method.responseDeserialize as (bytes: Buffer) => Answer,
      { job_id: jobId },
      metadata,
    );
    const seen = new Promise<string>((resolve) => call.once('data', () => resolve('seen')));
    const ended = new Promise<string>((resolve) => {
      call.on('data', (event: Answer) => events.push(event['status']));
      call.on('end', () => resolve('OK'));
      call.on('error', (error: ServiceError) => resolve(status[error.code] ?? ''));
    });
    const expectFirstEvent = async () => expect(await Promise.race([seen, ended])).toBe('seen');
    return { events, ended, seen, begun: expectFirstEvent, cancel: () => call.cancel() };
  };

  it('the end of a job is detected without polling', async () => {
    await start({ readEveryMs: hourMs, recheckEveryMs: hourMs });
    const id = await api.given.job({ state: 'PENDING' });
    const { events, ended, begun } = watch(id, identities.user.key);
    await begun();

    await api.as('admin').post(`/api/v1/jobs/${id}/cancel`);

    expect(await ended).toBe('OK');
    expect(events).toEqual(['PENDING', 'CANCELLED']);
  });

  it('UNAUTHENTICATED: a stream ends when its key is revoked', async () => {
    await start({ readEveryMs: 20, recheckEveryMs: 20 });
    const id = await api.given.job({ state: 'PENDING' });
    const { events, ended, begun } = watch(id, leaver);
    const other = watch(id, identities.user.key);
    await Promise.all([begun(), other.begun()]);

    writeFileSync(keyFile, 'acme:key-of-another-user-of-acme-0001:viewer');

    expect(await ended).toBe('UNAUTHENTICATED');
    expect(events).toEqual(['PENDING']);
    await api.as('admin').post(`/api/v1/jobs/${id}/cancel`);
    expect(await other.ended).toBe('OK');
  });

  it('PERMISSION_DENIED: a stream ends when its key now belongs to another tenant', async () => {
    await start({ readEveryMs: 20, recheckEveryMs: 20 });
    const id = await api.given.job({ state: 'PENDING' });
    const { ended, begun } = watch(id, leaver);
    await begun();

    writeFileSync(keyFile, `globex:${leaver}:viewer`);

    expect(await ended).toBe('PERMISSION_DENIED');
  });

  it('RESOURCE_EXHAUSTED: the maximum number of streams per tenant, independent of other tenants', async () => {
    await start({ readEveryMs: hourMs, recheckEveryMs: hourMs }, { GATEWAY_GRPC_MAX_STREAMS_PER_TENANT: '2' });
    const [id, foreign] = [await api.given.job({ state: 'PENDING' }), await api.given.job({ tenant: 'globex', state: 'PENDING' })];
    const [first, second] = [watch(id, identities.user.key), watch(id, identities.viewer.key)];
    await Promise.all([first.begun(), second.begun()]);

    expect(await watch(id, identities.admin.key).ended).toBe('RESOURCE_EXHAUSTED');

    const elsewhere = watch(foreign, identities.other.key);
    await elsewhere.begun();
    elsewhere.cancel();
    first.cancel();
    // The server is notified of a cancelled call asynchronously.
    for (;;) {
      const again = watch(id, identities.admin.key);
      const answered = await Promise.race([again.seen, again.ended]);
      again.cancel();
      if (answered === 'seen') break;
      expect(answered).toBe('RESOURCE_EXHAUSTED');
    }
    second.cancel();
  }); // prettier-ignore
});
