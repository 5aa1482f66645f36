import { grpcServices } from '@svc/contract';
import { serviceDefinition } from '@svc/grpc';
import { mount, serve, type Listening } from '@svc/http';
import { apiEnv, Health, readEnv, silentLogger, systemClock } from '@svc/runtime';
import { Client, credentials, Metadata } from '@grpc/grpc-js';
import { mountAdmin } from './admin/mount-admin';
import { useApi } from './api.testing';
import { leaks } from './fuzz/canaries.testing';
import { startGrpcServer, type ApiGrpcServer } from './grpc/server';
import { identities, type Who } from './identities.testing';
import { plantBelongings, type Planted } from './tenant-belongings.testing';
import { walked } from './tenant-requests.testing';

jest.setTimeout(60_000);

const others: readonly Who[] = ['other', 'otherOperator', 'otherUser', 'otherViewer', 'otherClerk'];

describe('another tenant, on surfaces other than REST', () => {
  let grpc: ApiGrpcServer;
  let client: Client;
  let pages: Listening;
  const stops: (() => unknown)[] = [];
  // Before the hooks of the gateway: hooks run in the order they are registered, and clients must end first.
  afterAll(async () => {
    client.close();
    await grpc.close();
    await pages.close(100);
    for (const stop of stops) await stop();
  });
  const api = useApi(walked);

  beforeAll(async () => {
    const clock = systemClock();
    const env = readEnv(apiEnv, { GATEWAY_GRPC_ADDR: '127.0.0.1:0' }).values;
    grpc = await startGrpcServer({ env, log: silentLogger, health: new Health({ clock }), clock }, api.ctx, api.options);
    client = new Client(`127.0.0.1:${grpc.port}`, credentials.createInsecure());
    const { app, finish } = mount([], {}, api.options);
    const admin = { env: { production: false, defaultTenant: walked.env.TENANT_ID }, onStop: (_: string, stop: () => unknown) => void stops.push(stop) };
    mountAdmin(app, admin, { store: api.store, users: api.ctx.users, surface: api.options });
    const timeouts = { requestTimeoutMs: 10_000, idleTimeoutMs: 10_000, writeTimeoutMs: 10_000 };
    const connections = { maxConnections: 1_000, maxConnectionsPerAddress: 1_000 };
    const onProblem = (problem: unknown) => void api.defects.push(problem);
    pages = await serve(finish(), { host: '127.0.0.1', port: 0, ...timeouts, ...connections, onProblem });
  }, 30_000); // prettier-ignore
  beforeEach(() => api.license('enterprise'));

  const getJobs = ({ held, done, failed, denied, quarantined, submitted }: Planted) => [
    ...[held, done, failed, denied, quarantined, submitted],
  ];

  /** The whole response of a call as text: messages, or the error with its metadata. */
  const call = (name: string, request: object, who: Who) =>
    new Promise<string>((resolve) => {
      const method = serviceDefinition(grpcServices.gateway)[name];
      if (!method) throw new Error(`no method ${name}`);
      const metadata = new Metadata();
      metadata.set('x-api-key', identities[who].key);
      const { path, requestSerialize, responseDeserialize } = method;
      const deadline = Date.now() + 10_000;
      const options = [path, requestSerialize, responseDeserialize, request, metadata, { deadline }] as const;
      const stream = client.makeServerStreamRequest(...options);
      const messages: unknown[] = [];
      const end = (error?: Error) => resolve(JSON.stringify([messages, error, error?.message]));
      stream.on('data', (message) => messages.push(message));
      stream.on('end', () => end());
      stream.on('error', end);
    });

  it('reads no text of the tenant by gRPC, for any method and role', async () => {
    const planted = await plantBelongings(api);
    const key = planted.canaries.find(({ place }) => place === 'jobs.submit idempotency_key')?.text ?? '';
    const found: string[] = [];

    for (const name of Object.keys(serviceDefinition(grpcServices.gateway))) {
      for (const who of others) {
        for (const job_id of getJobs(planted)) {
          const text = await call(name, { job_id, prompt: 'x', idempotency_key: key }, who);
          expect(text).not.toMatch(/DEADLINE_EXCEEDED|RESOURCE_EXHAUSTED|INTERNAL/);
          const others = planted.canaries.filter((one) => one.text !== key);
          found.push(...leaks(`${name} as ${who}`, text, others));
        }
      }
    }

    expect(found).toEqual([]);
    expect(await call('GetJobStatus', { job_id: planted.done }, 'admin')).toContain('SUCCEEDED');
  });

  it('reads no text of the tenant in the admin pages, for any role', async () => {
    const planted = await plantBelongings(api);
    const root = `http://127.0.0.1:${pages.port}`;
    const read = async (path: string, who: Who) => {
      const answer = await fetch(root + path, { headers: { 'X-API-Key': identities[who].key }, redirect: 'manual' });
      return `${answer.status} ${JSON.stringify([...answer.headers])} ${await answer.text()}`;
    };
    const list = JSON.parse((await read('/admin/queues/api/queues', 'everywhere')).replace(/^[^{]*/, '')) as {
      queues: { name: string }[];
    };
    const ids = [...getJobs(planted), planted.run, planted.again, planted.schedule];
    const paths = [
      ...['/admin', '/admin/queues', '/admin/login'],
      ...ids.map((id) => `/admin/jobs/${id}`),
      ...list.queues.flatMap(({ name }) => [
        `/admin/queues/api/queues?activeQueue=${name}&page=1&jobsPerPage=100`,
        ...ids.flatMap((id) => [
          `/admin/queues/api/queues/${name}/${id}`,
          `/admin/queues/api/queues/${name}/${id}/logs`,
        ]),
      ]),
    ];
    const found: string[] = [];

    for (const who of others) {
      for (const path of paths) {
        const text = await read(path, who);
        expect(text).not.toMatch(/^(429|5)/);
        found.push(...leaks(`${path} as ${who}`, text, planted.canaries));
      }
    }

    expect(found).toEqual([]);
    expect(await read(`/admin/jobs/${planted.done}`, 'admin')).toContain(planted.done);
    expect(list.queues.length).toBeGreaterThan(3);
  });
});
