import {
  encodePacket,
  heartbeatPacket,
  jobCancelPacket,
  jobResultPacket,
  JobStatus,
  workerCancelSubject,
} from '@svc/contract';
import { describeWorkerRestrictions, eventually } from '@svc/testing';
import { createWorker, type Worker } from '@svc/worker-sdk';
import { Redis } from 'ioredis';
import { connect, type NatsConnection } from 'nats';
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from '../demo/client';
import { startStack, type Stack } from '../stack';
import { coreServices } from '../stack/settings';

jest.setTimeout(60_000);

const services = coreServices.filter(({ name }) => name === 'scheduler' || name === 'api');
const patience = { withinMs: 30_000 };
/** A change of a credential is in effect within about a second; the machines that run tests are slower. */
const soon = { withinMs: 10_000 };

/** The built gateway and scheduler, with workers that have no access to the stores but their credential. */
describe('users of NATS and Redis made from the credentials of workers', () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'svc-credential-access-'));
  const lines: string[] = [];
  let stack: Stack;
  const open: (NatsConnection | Redis)[] = [];

  beforeAll(async () => {
    stack = await startStack({
      dataDir,
      env: { PATH: process.env['PATH'], HOME: process.env['HOME'] },
      services,
      tls: false,
      usualPorts: false,
      onLine: (service, line) => void lines.push(`${service}: ${line}`),
    });
  }, 180_000);
  afterEach(async () => {
    for (const client of open.splice(0)) {
      if (client instanceof Redis) client.disconnect();
      else await client.close();
    }
  });
  afterAll(async () => {
    await stack?.stop();
    rmSync(dataDir, { recursive: true, force: true });
  }, 30_000);

  const admin = () => new Client(stack.info, 'admin');
  const give = async (worker_id: string): Promise<string> => {
    const { status, body } = await admin().post('/api/v1/workers/credentials', { worker_id, allowed_pools: ['demo'] });
    expect([200, 201]).toContain(status);
    return String(body['token']);
  };
  const natsHost = () => new URL(stack.info.nats_url).host;
  const redisUrl = (id: string, token = '') =>
    `redis://worker-${id}${token && `:${token}`}@${new URL(stack.info.redis_url).host}`;
  const connectAs = async (user: string, pass: string) => {
    const connection = await connect({ servers: natsHost(), user, pass, reconnect: false });
    open.push(connection);
    return connection;
  };
  /** Resolves with the first connection that is accepted. */
  const untilAccepted = async (id: string, token: string) => {
    let connection: NatsConnection | undefined;
    await eventually(async () => {
      connection ??= await connectAs(id, token);
      // nats-server 2.9 forwards nothing of a new account until its second reload.
      await connection.jetstreamManager();
    }, soon);
    return connection ?? fail();
  };
  const asServices = () => connectAs(stack.info.nats_user, stack.info.nats_password);
  const openRedis = (url: string) => {
    const redis = new Redis(url, { maxRetriesPerRequest: 0, retryStrategy: () => null }).on('error', () => undefined);
    open.push(redis);
    return redis;
  };
  const untilRedisAccepts = (id: string, token: string) =>
    eventually(async () => expect(await openRedis(redisUrl(id, token)).ping()).toBe('PONG'), soon);
  const refusals = async () => {
    const response = await fetchText(stack.info.metrics_urls['scheduler'] ?? '');
    const [, count = '0'] = /validation_rejections_total\{[^}]*PERMISSION_DENIED[^}]*\} (\d+)/.exec(response) ?? [];
    return Number(count);
  };
  const head = (sender_id: string) => ({ trace_id: 't', sender_id, nowUs: Date.now() * 1_000 });
  const seenBy = (connection: NatsConnection, subject: string) => {
    const seen: string[] = [];
    connection.subscribe(subject, { callback: (error, message) => void seen.push(error?.message ?? message.string()) });
    return seen;
  };

  describe('a worker on the SDK with its token only', () => {
    const errors: unknown[] = [];
    let worker: Worker;
    beforeAll(async () => {
      const token = await give('sdk-1');
      worker = createWorker({
        id: 'sdk-1',
        pool: 'demo',
        topics: { 'job.demo.echo': async (job) => ({ echo: job.prompt }) },
        natsUrl: natsHost(),
        redisUrl: redisUrl('sdk-1'),
        authToken: token,
        signals: [],
        onError: (error) => void errors.push(error),
      });
      await untilAccepted('sdk-1', token);
      await untilRedisAccepts('sdk-1', token);
      await worker.start();
    });
    afterAll(() => worker?.stop(), 30_000);

    it('runs jobs', async () => {
      const { status, body } = await admin().post('/api/v1/jobs', { topic: 'job.demo.echo', prompt: 'hello' });
      expect(status).toBe(200);

      await eventually(async () => {
        const job = await admin().get(`/api/v1/jobs/${String(body['job_id'])}`);
        expect(job.body).toMatchObject({ state: 'SUCCEEDED', worker_id: 'sdk-1' });
      }, patience);
      expect(errors).toEqual([]);
    });

    it('runs jobs after a restart of NATS, Redis and the scheduler', async () => {
      for (const name of ['nats', 'redis', 'scheduler']) {
        await stack.kill(name);
        await stack.untilReady(name);
      }
      await eventually(async () => {
        const { body } = await admin().post('/api/v1/jobs', { topic: 'job.demo.echo', prompt: 'again' });
        const id = String(body['job_id']);
        await eventually(
          async () => expect((await admin().get(`/api/v1/jobs/${id}`)).body).toMatchObject({ state: 'SUCCEEDED' }),
          soon,
        );
      }, patience);
    });
  });

  describe('as any worker', () => {
    let token = '';
    beforeAll(async () => {
      token = await give('demo-1');
      await (await untilAccepted('demo-1', token)).close();
      await untilRedisAccepts('demo-1', token);
    });
    describeWorkerRestrictions(
      () => ({
        nats: { servers: natsHost(), user: 'demo-1', pass: token },
        redisUrl: redisUrl('demo-1', token),
        services: { servers: natsHost(), user: stack.info.nats_user, pass: stack.info.nats_password },
      }),
      { harmless: ['job.>', 'job.render'] },
    );
  });

  it('a worker receives its own dispatches and cancels, and none of another worker', async () => {
    const [own, other] = [await give('red-1'), await give('blue-1')];
    const [red, blue] = [await untilAccepted('red-1', own), await untilAccepted('blue-1', other)];
    const service = await asServices();
    const seen = seenBy(red, 'worker.red-1.jobs');
    const cancels = seenBy(red, 'sys.job.cancel');
    const topics = seenBy(red, 'job.>');
    const inboxes = seenBy(red, '_INBOX.>');
    const foreign = seenBy(red, 'worker.blue-1.jobs');
    const blueSees = seenBy(blue, 'worker.blue-1.jobs');
    await red.flush();
    await blue.flush();

    service.publish('worker.blue-1.jobs', 'secret');
    service.publish('worker.red-1.jobs', 'mine');
    service.publish('job.demo.echo', 'topic');
    service.publish('sys.job.cancel', 'to all');
    service.publish(workerCancelSubject('blue-1'), 'secret');
    service.publish(workerCancelSubject('red-1'), 'stop');
    service.publish('_INBOX.blue', 'secret');
    blue.publish('_INBOX.blue', 'secret');
    await Promise.all([service.flush(), blue.flush()]);

    await eventually(() => expect([seen, cancels, blueSees]).toEqual([['mine'], ['stop'], ['secret']]));
    await red.flush();
    expect([topics, inboxes]).toEqual([[], []]);
    expect(foreign).toEqual([expect.stringContaining('Permissions Violation')]);
  });

  it('a worker pulls from its own consumer, and cannot read, create or delete that of another', async () => {
    const [own] = [await give('red-2'), await give('blue-2')];
    const red = await untilAccepted('red-2', own);
    const service = await asServices();
    const js = service.jetstream();
    await eventually(async () => void (await js.consumers.get('SVC_JOBS', 'dur_blue-2__worker_blue-2_jobs')), soon);
    await js.publish('worker.blue-2.jobs', 'secret');
    await js.publish('worker.red-2.jobs', 'mine');

    const consumer = await red.jetstream().consumers.get('SVC_JOBS', 'dur_red-2__worker_red-2_jobs');
    const message = await consumer.next({ expires: 2_000 });

    expect(message?.string()).toBe('mine');
    message?.ack();
    const manager = await red.jetstreamManager();
    const forbidden = [
      () => red.jetstream().consumers.get('SVC_JOBS', 'dur_blue-2__worker_blue-2_jobs'),
      () => manager.consumers.delete('SVC_JOBS', 'dur_blue-2__worker_blue-2_jobs'),
      () => manager.consumers.delete('SVC_JOBS', 'dur_red-2__worker_red-2_jobs'),
      () => manager.consumers.add('SVC_JOBS', { durable_name: 'mine', filter_subject: 'worker.red-2.jobs', deliver_subject: 'sys.job.submit' }), // prettier-ignore
      () => manager.streams.info('SVC_JOBS'),
      () => manager.streams.delete('SVC_SYS'),
    ];
    for (const attempt of forbidden) await expect(attempt()).rejects.toThrow('Permissions Violation');
  });

  it('packets in the name of another worker have no effect and are counted', async () => {
    const [own] = [await give('red-3'), await give('blue-3')];
    const red = await untilAccepted('red-3', own);
    const beat = (id: string) => encodePacket(heartbeatPacket(head(id), { worker_id: id, pool: 'demo' }));
    const listWorkers = async () => JSON.stringify((await admin().get('/api/v1/workers')).body);
    await eventually(async () => {
      red.publish('sys.heartbeat', beat('red-3'));
      expect(await listWorkers()).toContain('red-3');
    }, patience);
    const before = await refusals();
    const result = { job_id: 'j', status: JobStatus.JOB_STATUS_SUCCEEDED, worker_id: 'blue-3' };
    const forged: [string, Uint8Array][] = [
      ['sys.heartbeat', beat('blue-3')],
      ['sys.job.result', encodePacket(jobResultPacket(head('blue-3'), result))],
    ];

    for (const [subject, bytes] of forged) red.publish(subject, bytes);
    await red.flush();

    await eventually(async () => expect(await refusals()).toBe(before + forged.length), patience);
    red.publish('sys.heartbeat', beat('red-3'));
    await red.flush();
    expect(await listWorkers()).not.toContain('blue-3');
  });

  it('a cancel of the services reaches the worker that it names', async () => {
    const red = await untilAccepted('red-4', await give('red-4'));
    const seen = seenBy(red, 'sys.job.cancel');
    await red.flush();
    const service = await asServices();
    const cancel = { job_id: 'j', dispatch: { dispatch_id: 'd', attempt: 1, assigned_worker_id: 'red-4' } };

    service.publish(workerCancelSubject('red-4'), encodePacket(jobCancelPacket(head('scheduler'), cancel)));

    await eventually(() => expect(seen).toHaveLength(1));
  });

  it('a revoked credential ends both connections and is accepted no more, also after restarts', async () => {
    const token = await give('gone-1');
    const connection = await untilAccepted('gone-1', token);
    await untilRedisAccepts('gone-1', token);
    const redis = openRedis(redisUrl('gone-1', token));
    await redis.ping();
    const ended = connection.closed();
    const redisEnded = new Promise((resolve) => redis.once('close', resolve));

    expect((await admin().delete('/api/v1/workers/credentials/gone-1')).status).toBe(204);

    await Promise.all([ended, redisEnded]);
    const refused = async () => {
      await expect(connectAs('gone-1', token)).rejects.toMatchObject({ code: 'AUTHORIZATION_VIOLATION' });
      await expect(openRedis(redisUrl('gone-1', token)).get('res:x')).rejects.toThrow();
    };
    await refused();
    for (const name of ['nats', 'redis', 'scheduler']) {
      await stack.kill(name);
      await stack.untilReady(name);
    }
    await refused();
  });

  it('a replaced token ends the connections of the old one, and the new one is accepted', async () => {
    const old = await give('turn-1');
    const connection = await untilAccepted('turn-1', old);
    await untilRedisAccepts('turn-1', old);
    const redis = openRedis(redisUrl('turn-1', old));
    await redis.ping();
    const ended = [connection.closed(), new Promise((resolve) => redis.once('close', resolve))];

    const token = await give('turn-1');

    await Promise.all(ended);
    await untilAccepted('turn-1', token);
    await untilRedisAccepts('turn-1', token);
    await expect(connectAs('turn-1', old)).rejects.toMatchObject({ code: 'AUTHORIZATION_VIOLATION' });
  });

  it('other connections stay open while credentials change', async () => {
    const token = await give('calm-1');
    const connection = await untilAccepted('calm-1', token);
    await untilRedisAccepts('calm-1', token);
    const redis = openRedis(redisUrl('calm-1', token));
    const id = await redis.ping().then(() => redis.status);

    for (let i = 0; i < 3; i++) await untilAccepted(`calm-other-${i}`, await give(`calm-other-${i}`));

    await connection.flush();
    expect([connection.isClosed(), id, redis.status]).toEqual([false, 'ready', 'ready']);
  });

  it('credentials are granted and revoked while the scheduler is down, as soon as it is back', async () => {
    const revoked = await give('late-1');
    await untilAccepted('late-1', revoked);
    await stack.halt('scheduler');

    const created = await give('late-2');
    await admin().delete('/api/v1/workers/credentials/late-1');
    const before = await connectAs('late-1', revoked);
    await expect(connectAs('late-2', created)).rejects.toThrow();
    await stack.resume('scheduler');

    await before.closed();
    await untilAccepted('late-2', created);
  });

  it('generated users of a worker with the same id remain, and secrets are in no log line', async () => {
    const { nats_user: user, nats_password: pass } = stack.info.workers['demo']?.[0] ?? fail();
    const token = await give('demo-1');
    await untilAccepted('demo-1', token);

    await (await connectAs(user, pass)).flush();
    const file = join(dataDir, 'credentials/nats/workers/workers.conf');
    const hashes = [...readFileSync(file, 'utf8').matchAll(/"(\$2a\$[^"]+)"/g)].map(([, hash]) => hash ?? '');

    expect(user).toBe('demo.demo-1');
    expect(hashes.length).toBeGreaterThan(3);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(lines.some((line) => line.includes('users of workers changed'))).toBe(true);
    expect(lines.filter((line) => [token, ...hashes].some((secret) => line.includes(secret)))).toEqual([]);
  });
});

const fetchText = async (url: string): Promise<string> => (await globalThis.fetch(url)).text();
