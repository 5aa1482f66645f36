import { encodePacket, jobRequestPacket } from '@svc/contract';
import { describeWorkerRestrictions, eventually } from '@svc/testing';
import { createWorker, type Worker } from '@svc/worker-sdk';
import { Redis } from 'ioredis';
import { connect } from 'nats';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from '../demo/client';
import { startStack, type Stack, type WorkerAccess } from '../stack';
import { coreServices } from '../stack/settings';

jest.setTimeout(60_000);

const services = coreServices.filter(({ name }) => name === 'scheduler' || name === 'api');
const patience = { withinMs: 30_000 };

/** The built gateway and scheduler, with a worker that has only the credentials of its pool. */
describe.each([
  { jetstream: true, mode: 'with JetStream' },
  { jetstream: false, mode: 'without JetStream' },
])('generated credentials $mode', ({ jetstream }) => {
  const dataDir = mkdtempSync(join(tmpdir(), 'svc-credentials-'));
  const lines: string[] = [];
  const errors: unknown[] = [];
  let stack: Stack;
  let worker: Worker;
  let own: WorkerAccess;

  beforeAll(async () => {
    const env = {
      PATH: process.env['PATH'],
      HOME: process.env['HOME'],
      NATS_USE_JETSTREAM: String(jetstream),
      SVC_LOG_LEVEL: 'debug',
    };
    stack = await startStack({
      dataDir,
      env,
      services,
      tls: false,
      usualPorts: false,
      onLine: (service, line) => void lines.push(`${service}: ${line}`),
    });
    own = stack.info.workers['demo']?.[0] ?? fail();
    worker = createWorker({
      id: own.worker_id,
      pool: 'demo',
      topics: {
        // Served by a topic pattern of the pool, so it has no durable consumer.
        'job.demo.echo': async (job) => {
          if (job.prompt === 'wait') await new Promise((done) => job.signal.addEventListener('abort', done));
          return { echo: job.prompt, artifact: await job.saveArtifact(Buffer.from('file')) };
        },
        'job.default': async (job) => ({ echo: job.prompt }),
      },
      natsUrl: own.nats_url,
      redisUrl: own.redis_url,
      jetstream,
      heartbeatMs: 500,
      signals: [],
      onError: (error) => errors.push(error),
    });
    await worker.start();
  }, 180_000);
  afterAll(async () => {
    await worker?.stop();
    await stack?.stop();
    rmSync(dataDir, { recursive: true, force: true });
  }, 30_000);

  const admin = () => new Client(stack.info, 'admin');
  async function submit(topic: string, prompt: string): Promise<string> {
    const { status, body } = await admin().post('/api/v1/jobs', { topic, prompt });
    expect([status, body]).toEqual([200, expect.objectContaining({ job_id: expect.any(String) as string })]);
    return String(body['job_id']);
  }
  const until = (id: string, fields: object) =>
    eventually(async () => expect((await admin().get(`/api/v1/jobs/${id}`)).body).toMatchObject(fields), patience);

  it('a job completes with its result and an artifact', async () => {
    const id = await submit('job.demo.echo', 'hello');

    await until(id, { state: 'SUCCEEDED', worker_id: own.worker_id });

    const result = (await admin().get(`/api/v1/memory?ptr=redis://res:${id}`)).body;
    const artifact = /redis:\/\/(art:[\w-]+)/.exec(JSON.stringify(result))?.[1] ?? '';
    const redis = new Redis(stack.info.redis_url);
    expect(await redis.get(artifact)).toBe('file');
    redis.disconnect();
    expect(errors).toEqual([]);
  });

  it('a job that is published on a topic reaches the worker', async () => {
    const { redis_url, nats_url: servers, nats_user: user, nats_password: pass } = stack.info;
    const [redis, sender] = [new Redis(redis_url), await connect({ servers, user, pass })];
    await redis.set('ctx:direct', JSON.stringify({ prompt: 'direct' }));
    const head = { trace_id: 't', sender_id: 'test', nowUs: Date.now() * 1_000 };
    const request = {
      job_id: 'direct',
      topic: 'job.demo.echo',
      tenant_id: 'default',
      context_ptr: 'redis://ctx:direct',
    };

    sender.publish(request.topic, encodePacket(jobRequestPacket(head, request)));

    await eventually(async () => expect(await redis.get('res:direct')).toContain('"echo":"direct"'), patience);
    redis.disconnect();
    await sender.close();
    expect(errors).toEqual([]);
  });

  it('a cancel reaches the worker', async () => {
    const id = await submit('job.demo.echo', 'wait');
    await eventually(
      async () => expect((await admin().get(`/api/v1/jobs/${id}`)).body['state']).toMatch(/DISPATCHED|RUNNING/),
      patience,
    );

    await admin().post(`/api/v1/jobs/${id}/cancel`);

    await until(id, { state: 'CANCELLED' });
  });

  it('a worker without the SDK receives dispatches by subscription, and its topics in a queue group', async () => {
    const {
      worker_id: id,
      nats_user: user,
      nats_password: pass,
      nats_url: servers,
    } = stack.info.workers['demo']?.[1] ?? fail();
    const plain = await connect({ servers, user, pass });
    const sender = await connect({
      servers: stack.info.nats_url,
      user: stack.info.nats_user,
      pass: stack.info.nats_password,
    });
    const received: string[] = [];
    const callback = (_: Error | null, { subject }: { subject: string }) => void received.push(subject);
    plain.subscribe(`worker.${id}.jobs`, { callback });
    plain.subscribe('job.demo.unserved', { queue: 'job.demo.unserved', callback });
    await plain.flush();

    sender.publish(`worker.${id}.jobs`);
    sender.publish('job.demo.unserved');

    await eventually(() => expect(received.sort()).toEqual(['job.demo.unserved', `worker.${id}.jobs`]));
    await Promise.all([plain.close(), sender.close()]);
  });

  it('connections without credentials are refused', async () => {
    const servers = new URL(stack.info.nats_url).host;
    await expect(connect({ servers })).rejects.toMatchObject({ code: 'AUTHORIZATION_VIOLATION' });
    const { host } = new URL(stack.info.redis_url);
    const redis = new Redis(`redis://${host}`, { enableReadyCheck: false }).on('error', () => undefined);
    await expect(redis.get('x')).rejects.toThrow('NOAUTH');
    redis.disconnect();
  });

  it('services and worker caused no permission error', () => {
    expect(lines.filter((line) => /NOPERM|permissions violation/i.test(line))).toEqual([]);
    expect(lines.filter((line) => /NOAUTH|WRONGPASS|authorization violation/i.test(line))).toEqual([]);
  });

  it('no password is in a log line, a command line or the status, and credential files are readable by their owner only', async () => {
    const { body } = await admin().get('/api/v1/status');
    const secrets = readFileSync(join(dataDir, 'credentials/secrets.json'), 'utf8');
    const passwords = [...secrets.matchAll(/"(s[\w-]{43})"/g)].map(([, password]) => password ?? '');
    const commands = (existsSync('/proc') ? readdirSync('/proc') : []).filter((name) => /^\d+$/.test(name)).map(commandLine); // prettier-ignore
    const texts = [...lines, ...commands, JSON.stringify(body)];

    expect(passwords.length).toBeGreaterThan(10);
    expect(lines.length).toBeGreaterThan(10);
    expect(texts.filter((text) => passwords.some((password) => text.includes(password)))).toEqual([]);
    const files = ['secrets.json', 'nats/nats.conf', 'redis/users.acl', 'redis/health'];
    for (const file of files) expect(statSync(join(dataDir, 'credentials', file)).mode & 0o777).toBe(0o600);
  });

  describeWorkerRestrictions(() => {
    const { nats_url: servers, nats_user: user, nats_password: pass } = stack.info;
    return {
      nats: { servers: own.nats_url, user: own.nats_user, pass: own.nats_password },
      redisUrl: own.redis_url,
      services: { servers, user, pass },
    };
  });

  it.each([['flushall'], ['keys', '*'], ['shutdown'], ['config', 'set', 'maxmemory', '1'], ['acl', 'list']])(
    'the services cannot run %s in Redis',
    async (command, ...args) => {
      const environment = readFileSync(`/proc/${stack.info.pids['scheduler']}/environ`, 'utf8');
      const redis = new Redis(/REDIS_URL=([^\0]+)/.exec(environment)?.[1] ?? '');
      await expect(redis.call(command, ...args)).rejects.toThrow('NOPERM');
      redis.disconnect();
    },
  ); // prettier-ignore
});

function commandLine(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
  } catch {
    return ''; // the process has ended since
  }
}
