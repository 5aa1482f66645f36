import { Redis } from 'ioredis';
import { connect, Events } from 'nats';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  startStack,
  type ServicePlan,
  type Stack,
  type StackInfo,
  type StackOptions,
  type WorkerAccess,
} from '../stack';
import { addLocalWorker } from './local';
import { readWorkerOptions, workerEnvironment } from './options';
import { renderNatsConf, renderRedisAcl, workerPermissions } from './render';
import { ensureCredentials } from './secrets';

const main = 'tools/stack/sample-service.fixture.cjs';
const services: ServicePlan[] = [
  {
    name: 'api',
    stage: 3,
    main,
    ports: { GATEWAY_HTTP_ADDR: 8081, GATEWAY_GRPC_ADDR: 8080, GATEWAY_METRICS_ADDR: 9092 },
    readyAt: 'GATEWAY_HTTP_ADDR',
  },
];
const folders: string[] = [];
const folder = () => {
  const made = mkdtempSync(join(tmpdir(), 'svc-credentials-'));
  folders.push(made);
  return made;
};
afterAll(() => folders.forEach((dir) => rmSync(dir, { recursive: true, force: true })));

const start = (options: StackOptions & { env?: NodeJS.ProcessEnv } = {}) =>
  startStack({
    dataDir: folder(),
    build: false,
    tls: false,
    usualPorts: false,
    services,
    ...options,
    env: { PATH: process.env['PATH'], ...options.env },
  });
const poolsText = (...pools: string[]) =>
  `topics:\n  job.shared: [${pools.join(', ')}]\n${pools.map((pool) => `  job.${pool}.*: ${pool}\n`).join('')}`;
const onDisk = (dataDir: string) => JSON.parse(readFileSync(join(dataDir, 'stack.json'), 'utf8')) as StackInfo;
const openNats = ({ nats_url: servers, nats_user: user, nats_password: pass }: WorkerAccess) =>
  connect({ servers, user, pass });

describe('credentials of a stack', () => {
  it('are stable across restarts, and a pool added to the pools file gets its own', async () => {
    const dataDir = folder();
    const POOL_CONFIG_PATH = join(dataDir, 'pools.yaml');
    writeFileSync(POOL_CONFIG_PATH, poolsText('red'));
    const first = await start({ dataDir, env: { POOL_CONFIG_PATH } });
    const { workers: before, nats_password, redis_password } = first.info;
    await first.stop();
    writeFileSync(POOL_CONFIG_PATH, poolsText('red', 'blue'));

    const second = await start({ dataDir, env: { POOL_CONFIG_PATH } });

    const { workers: after } = second.info;
    const passwords = (access: WorkerAccess[] = []) => access.map((entry) => [entry.nats_password, new URL(entry.redis_url).password]); // prettier-ignore
    expect(second.info).toMatchObject({ nats_password, redis_password, nats_user: 'svc', redis_user: 'admin' });
    expect(passwords(after['red'])).toEqual(passwords(before['red']));
    expect(after['blue']?.map(({ worker_id }) => worker_id)).toEqual(['blue-1', 'blue-2']);
    const [blue] = after['blue'] ?? [];
    await (await openNats(blue ?? fail())).close();
    await second.stop();
  }, 60_000);

  it('are not generated for external stores', async () => {
    const first = await start();
    const { redis_url: REDIS_URL, nats_url: NATS_URL } = first.info;

    const second = await start({ env: { REDIS_URL, NATS_URL } });

    expect(existsSync(join(second.info.data_dir, 'credentials'))).toBe(false);
    expect(second.info).toMatchObject({ workers: {}, redis_url: REDIS_URL, nats_user: 'svc' });
    await second.stop();
    await first.stop();
  }, 60_000);

  it('are created with the first worker of a pool that is added while the stack runs', async () => {
    const POOL_CONFIG_PATH = join(folder(), 'pools.yaml');
    writeFileSync(POOL_CONFIG_PATH, poolsText('red'));
    const stack = await start({ env: { POOL_CONFIG_PATH } });
    writeFileSync(POOL_CONFIG_PATH, poolsText('red', 'blue'));

    const { access } = await addLocalWorker(stack.info.data_dir, 'blue', 'blue-worker');

    await (await openNats(access)).close();
    const redis = new Redis(access.redis_url);
    expect(await redis.set('res:x', '1')).toBe('OK');
    redis.disconnect();
    await stack.stop();
  }, 60_000);

  it('are not made for workers without a credential where attestation is enforced, and are restored when it is not', async () => {
    const dataDir = folder();
    const before = await start({ dataDir });
    const [generated] = before.info.workers['demo'] ?? [];
    await before.stop();

    const strict = await start({ dataDir, env: { WORKER_ATTESTATION: 'enforce' } });

    const servers = strict.info.nats_url;
    const { nats_user: user = '', nats_password: pass = '' } = generated ?? {};
    await expect(connect({ servers, user, pass })).rejects.toMatchObject({ code: 'AUTHORIZATION_VIOLATION' });
    const redis = new Redis(strict.info.redis_url);
    expect(await redis.call('ACL', 'USERS')).toEqual(['acl', 'admin', 'default', 'health', 'svc']);
    redis.disconnect();
    expect(strict.info.workers).toEqual({});
    await expect(addLocalWorker(dataDir, 'demo', 'more')).rejects.toThrow('workers need a credential');
    await strict.stop();
    const after = await start({ dataDir });
    await (await openNats(after.info.workers['demo']?.[0] ?? fail())).close();
    await after.stop();
  }, 60_000);

  it('remain valid when the pools file becomes invalid while the stack runs', async () => {
    const POOL_CONFIG_PATH = join(folder(), 'pools.yaml');
    writeFileSync(POOL_CONFIG_PATH, poolsText('red'));
    const stack = await start({ env: { POOL_CONFIG_PATH } });
    writeFileSync(POOL_CONFIG_PATH, 'topics: [');

    await stack.kill('api');
    await stack.untilReady('api');

    expect(Object.keys(stack.info.workers)).toEqual(['red']);
    await stack.stop();
  }, 60_000);

  it('report the error in an invalid pools file', async () => {
    const POOL_CONFIG_PATH = join(folder(), 'pools.yaml');
    writeFileSync(POOL_CONFIG_PATH, 'topics:\n  job.a: Not A Pool\n');

    await expect(start({ env: { POOL_CONFIG_PATH } })).rejects.toThrow(/pools\.yaml:2:\d+: a pool name/);
  });
});

describe('a worker that is added to a running stack', () => {
  let stack: Stack;
  let dataDir: string;
  beforeAll(async () => {
    stack = await start();
    dataDir = stack.info.data_dir;
  }, 60_000);
  afterAll(() => stack.stop(), 30_000);

  it('is accepted without a restart, and existing connections and streams are kept', async () => {
    const others = await Promise.all([openNats(stack.info.workers['demo']?.[0] ?? fail()), connectServices()]);
    const disconnects: string[] = [];
    for (const connection of others) {
      void (async () => {
        for await (const { type } of connection.status()) if (type === Events.Disconnect) disconnects.push(type);
      })();
    }
    const redis = new Redis(stack.info.redis_url);
    await redis.client('SETNAME', 'before');
    const manager = await others[1].jetstreamManager();
    await manager.streams.add({ name: 'KEPT', subjects: ['kept'] });
    const { pids } = stack.info;

    const { access, isRunning } = await addLocalWorker(dataDir, 'demo', 'extra');

    expect(isRunning).toBe(true);
    const worker = await openNats(access);
    const received: string[] = [];
    worker.subscribe('worker.extra.jobs', { callback: (_, { subject }) => void received.push(subject) });
    await worker.flush();
    others[1].publish('worker.extra.jobs');
    await others[1].flush();
    await worker.flush();
    expect(received).toEqual(['worker.extra.jobs']);
    const store = new Redis(access.redis_url);
    expect(await store.set('res:x', '1')).toBe('OK');
    expect(stack.info.pids).toEqual(pids);
    expect(disconnects).toEqual([]);
    expect((await manager.streams.info('KEPT')).config.name).toBe('KEPT');
    expect(await redis.client('GETNAME')).toBe('before');
    await Promise.all([...others, worker].map((connection) => connection.close()));
    for (const client of [store, redis]) client.disconnect();
  }, 30_000);

  it('is in stack.json, and keeps its credentials on a repeated call', async () => {
    const { access } = await addLocalWorker(dataDir, 'spare', 'extra-2');

    expect((await addLocalWorker(dataDir, 'spare', 'extra-2')).access).toEqual(access);
    expect(onDisk(dataDir).workers['spare']).toContainEqual(access);
    expect(stack.info.workers['spare']).toContainEqual(access);
    expect(workerEnvironment('spare', access).split('\n')).toEqual([
      'WORKER_ID=extra-2',
      'SVC_POOL=spare',
      `NATS_URL=${access.nats_url}`,
      `REDIS_URL=${access.redis_url}`,
    ]);
  }, 30_000);

  it.each([
    ['in an unknown pool', 'nowhere', 'w', 'no pool nowhere in the pools file: it has demo, spare, gpu'],
    ['a name of a prototype', 'constructor', 'w', 'no pool constructor'],
    ['an id that is not a subject token', 'demo', 'a.b', 'cannot be used'],
    ['the name of the services', 'demo', 'svc', 'cannot be used'],
    ['a worker of another pool', 'demo', 'gpu-1', 'worker gpu-1 belongs to pool gpu'],
  ])('cannot be %s', async (_, pool, id, message) => {
    await expect(addLocalWorker(dataDir, pool, id)).rejects.toThrow(message);
  });

  const connectServices = () =>
    connect({ servers: stack.info.nats_url, user: stack.info.nats_user, pass: stack.info.nats_password });
});

describe('Redis with generated credentials', () => {
  it('keeps what transactions and scripts wrote when it crashes, and refuses its default user', async () => {
    const stack = await start();
    const redis = new Redis(stack.info.redis_url);
    await redis.multi().set('a', '1').set('b', '2').exec();
    await redis.eval("redis.call('SET', 'c', '3') redis.call('SET', 'd', '4')", 0);
    redis.disconnect();

    await stack.kill('redis');
    await stack.untilReady('redis');

    const after = new Redis(stack.info.redis_url);
    expect(await after.mget('a', 'b', 'c', 'd')).toEqual(['1', '2', '3', '4']);
    after.disconnect();
    const { host } = new URL(stack.info.redis_url);
    for (const [credentials, code] of [
      ['', 'NOAUTH'],
      ['default:x@', 'WRONGPASS'],
    ]) {
      const anonymous = new Redis(`redis://${credentials}${host}`, {
        enableReadyCheck: false,
        retryStrategy: () => null,
      });
      const refusal = new Promise((resolve) => anonymous.once('error', resolve));
      const answered = anonymous.get('a').then(String, String);
      expect(String(await refusal) + (await answered)).toContain(code);
      anonymous.disconnect();
    }
    await stack.stop();
  }, 60_000);
});

describe('without a running stack', () => {
  it('a worker is added for the next start', async () => {
    const dataDir = folder();
    const { access, isRunning } = await addLocalWorker(dataDir, 'demo', 'early', {});

    const stack = await start({ dataDir });

    expect(isRunning).toBe(false);
    const found = stack.info.workers['demo']?.find(({ worker_id }) => worker_id === 'early');
    expect(found?.nats_password).toBe(access.nats_password);
    await stack.stop();
  }, 30_000);
});

describe('the configuration of the stores', () => {
  const pools = { topics: { 'job.a': ['red'], 'job.b.*': ['red', 'blue'], 'job.c.>': ['blue'] }, pools: {} };
  const pool = (name: string) => ({ name, requires: [], status: 'active' as const, description: '' });
  const identities = () =>
    ensureCredentials({
      dir: folder(),
      natsDir: '/data',
      pools: { ...pools, pools: { red: pool('red'), blue: pool('blue') } },
    }).identities;

  it('contains no Redis password, only digests', () => {
    const made = identities();
    const acl = renderRedisAcl(made);

    expect(acl).not.toContain(made.redisServicePassword);
    expect(acl).not.toContain('>');
    expect(acl).not.toContain('nopass');
    expect(acl.split('\n').map((line) => line.split(' ')[1])).toEqual(
      expect.arrayContaining(['default', 'svc', 'admin', 'health', 'pool-red', 'pool-blue']),
    );
    expect(acl).toContain('user default reset off ~* &* +@all\n');
  });

  it('grants a worker the topics of its pool, and durable consumers only for topics without wildcards', () => {
    const { publish, subscribe } = workerPermissions('red-1', ['job.a', 'job.b.*']);

    expect(subscribe).toEqual(['sys.job.cancel', 'worker.red-1.jobs', 'job.a', 'job.b.*', '_INBOX.>']);
    expect(publish.filter((subject) => subject.includes('CONSUMER.CREATE'))).toEqual([
      '$JS.API.CONSUMER.CREATE.SVC_JOBS.dur_red-1__worker_red-1_jobs.worker.red-1.jobs',
      '$JS.API.CONSUMER.CREATE.SVC_JOBS.dur_job_a__job_a.job.a',
    ]);
    expect(publish.filter((subject) => /\.(DELETE|PURGE|UPDATE|DURABLE)\./.test(subject))).toEqual([]);
  });

  it('has an account for each pool', () => {
    const conf = renderNatsConf(identities(), '/data with "quotes"');

    expect(conf.match(/^ {2}("pool-\w+"|SVC) \{/gm)).toEqual(['  SVC {', '  "pool-red" {', '  "pool-blue" {']);
    expect(conf).toContain('store_dir: "/data with \\"quotes\\""');
  });
});

describe('readWorkerOptions', () => {
  it('requires a pool and a worker', () => {
    expect(readWorkerOptions(['--pool', 'demo', '--worker', 'w', '--json'])).toMatchObject({
      pool: 'demo',
      json: true,
    });
    expect(readWorkerOptions(['--help'])).toBeUndefined();
    expect(() => readWorkerOptions(['--pool', 'demo'])).toThrow('--worker');
    expect(() => readWorkerOptions(['--nope'])).toThrow('--nope');
  });
});
