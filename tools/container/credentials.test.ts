import { renderNatsAccounts } from '@svc/worker-trust';
import { accepts, endChild, eventually, freePort, requireProgram, spawnLeashed } from '@svc/testing';
import { execFileSync, type ChildProcess } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { Redis } from 'ioredis';
import { connect } from 'nats';
import { parse } from 'yaml';
import { runContainerCredentials } from './credentials';

const root = resolve(__dirname, '../..');
const read = (name: string) => readFileSync(join(root, name), 'utf8');
interface ComposeService {
  command?: string[];
  entrypoint?: string[];
  environment?: Record<string, string>;
  ports?: string[];
  volumes?: string[];
  healthcheck?: { test: string[] };
}
const { services } = parse(read('docker-compose.yml'), { merge: true }) as { services: Record<string, ComposeService> };
const mounts = (name: string) => (services[name]?.volumes ?? []).map((volume) => volume.split(':'));

describe('docker-compose.yml', () => {
  it.each(['nats', 'redis'])('publishes no port of %s', (name) => {
    expect(services[name]?.ports).toBeUndefined();
  });

  it('starts Redis with its users and NATS with its accounts', () => {
    const { redis, nats } = services;

    expect(redis?.command?.slice(-2)).toEqual(['--aclfile', '/run/credentials/users.acl']);
    expect(redis?.healthcheck?.test.at(-1)).toContain('"$$(cat /run/credentials/health)" redis-cli --user health ping');
    expect(nats?.command?.slice(0, 2)).toEqual(['-c', '/run/credentials/nats.conf']);
    expect(nats?.entrypoint?.slice(1)).toEqual([
      '/run/run-nats.sh',
      '/run/credentials/workers/workers.conf',
      'nats-server',
    ]);
  });

  it.each([
    ['nats', 'nats-credentials'],
    ['redis', 'redis-credentials'],
    ['api', 'service-credentials'],
    ['scheduler', 'service-credentials'],
    ['engine', 'service-credentials'],
    ['kernel', 'service-credentials'],
  ])('lets %s read its own credentials only', (name, volume) => {
    const more = name === 'scheduler' ? [['scheduler-credentials', '/run/scheduler', 'ro']] : [];
    expect(mounts(name).filter(([source]) => source?.endsWith('credentials'))).toEqual([
      [volume, '/run/credentials', 'ro'],
      ...more,
    ]);
  });

  it('lets the scheduler write, and NATS read, the accounts of workers', () => {
    const { SVC_NATS_WORKERS_FILE: written = '' } = services['scheduler']?.environment ?? {};

    expect(mounts('scheduler')).toContainEqual(['nats-workers', written.replace('/workers.conf', '')]);
    expect(mounts('nats')).toContainEqual(['nats-workers', '/run/credentials/workers', 'ro']);
    expect(services['scheduler']?.command?.at(-1)).toContain('--env-file=/run/scheduler/scheduler.env ');
  });

  it.each(['api', 'scheduler', 'engine', 'kernel'])('gives %s the passwords in the file, and no other', (name) => {
    const { command, environment = {} } = services[name] ?? {};

    expect(command?.at(-1)).toContain('exec node --env-file=/run/credentials/services.env ');
    expect(environment['REDIS_URL']).toBe('redis://svc@redis:6379');
    expect(Object.keys(environment).filter((variable) => /^(NATS|REDIS)_.*(USER|PASS)/.test(variable))).toEqual([]);
  });
});

describe('the credentials program', () => {
  const dir = mkdtempSync(join(tmpdir(), 'svc-container-'));
  const program = join(root, 'node_modules/.svc-programs', `credentials-${process.pid}.cjs`);
  const file = (name: string) => join(dir, name);
  const run = (...args: string[]) =>
    execFileSync(process.execPath, [program, ...args], {
      cwd: root,
      env: { ...process.env, CREDENTIALS_DIR: dir },
      encoding: 'utf8',
    });
  const servers: ChildProcess[] = [];
  let redisPort = 0;
  let natsPort = 0;

  beforeAll(async () => {
    const [, args = ''] =
      /^RUN npx esbuild (.+) --outfile=dist\/tools\/credentials\.js$/m.exec(read('Dockerfile')) ?? [];
    mkdirSync(join(root, 'node_modules/.svc-programs'), { recursive: true });
    execFileSync('npx', ['esbuild', ...args.split(' '), `--outfile=${program}`, '--log-level=error'], { cwd: root });
    run();
    // JetStream's folder is that of the container's volume.
    writeFileSync(
      file('nats/here.conf'),
      readText(file('nats/nats.conf')).replace('"/data"', JSON.stringify(file('data'))),
    );
    [redisPort, natsPort] = [await freePort(), await freePort()];
    const redis = [
      '--bind',
      '127.0.0.1',
      '--port',
      String(redisPort),
      '--dir',
      dir,
      '--save',
      '',
      '--aclfile',
      file('redis/users.acl'),
    ];
    servers.push(
      spawnLeashed(requireProgram('redis-server'), redis, {}),
      spawnLeashed(
        requireProgram('nats-server'),
        ['-c', file('nats/here.conf'), '-a', '127.0.0.1', '-p', String(natsPort)],
        {},
      ),
    );
    await eventually(async () => expect(await ping()).toBe('PONG'), { withinMs: 20_000 });
    await eventually(() => accepts(natsPort), { withinMs: 20_000 });
  }, 60_000);
  afterAll(async () => {
    await Promise.all(servers.map((server) => endChild(server)));
    rmSync(dir, { recursive: true, force: true });
    rmSync(program, { force: true });
  }, 30_000);

  const readText = (name: string) => readFileSync(name, 'utf8');
  /** What the health check of compose does. */
  async function ping(): Promise<string> {
    const redis = new Redis(redisPort, {
      username: 'health',
      password: readText(file('redis/health')),
      enableReadyCheck: false, // it sends INFO
      maxRetriesPerRequest: 0,
      retryStrategy: () => null,
    }).on('error', () => undefined); // reported by the command
    try {
      return await redis.ping();
    } finally {
      redis.disconnect();
    }
  }
  const serviceEnv = () => {
    const script = 'console.log(JSON.stringify(process.env))';
    const output = execFileSync(process.execPath, [`--env-file=${file('services/services.env')}`, '-e', script]);
    return JSON.parse(output.toString()) as Record<string, string>;
  };

  it('writes files that each store can read, and secrets that only their owner can', () => {
    const mode = (name: string) => statSync(file(name)).mode & 0o777;

    for (const name of ['secrets.json', 'services/services.env']) expect([name, mode(name)]).toEqual([name, 0o600]);
    for (const name of ['nats/nats.conf', 'redis/users.acl']) expect([name, mode(name)]).toEqual([name, 0o644]);
    expect(readText(file('nats/nats.conf'))).toContain('jetstream { store_dir: "/data" }');
  });

  it('writes the credentials of the services', async () => {
    const { NATS_USERNAME: user, NATS_PASSWORD: pass, REDIS_PASSWORD: password } = serviceEnv();
    const redis = new Redis(redisPort, { username: 'svc', ...(password && { password }) });
    const connection = await connect({
      servers: `127.0.0.1:${natsPort}`,
      ...(user && { user }),
      ...(pass && { pass }),
    });

    expect(await redis.ping()).toBe('PONG');
    expect((await connection.jetstreamManager()).streams).toBeDefined();
    redis.disconnect();
    await connection.close();
  });

  it('writes the connection that manages Redis users for the scheduler only', async () => {
    const [, url = ''] = /^SVC_REDIS_ACL_URL=(.+)$/m.exec(readText(file('scheduler/scheduler.env'))) ?? [];
    const redis = new Redis(url.replace('redis:6379', `127.0.0.1:${redisPort}`));

    expect(await redis.call('ACL', 'SETUSER', 'worker-x', 'on')).toBe('OK');
    await expect(redis.get('x')).rejects.toThrow('NOPERM');
    expect(statSync(file('scheduler/scheduler.env')).mode & 0o777).toBe(0o600);
    expect(readText(file('services/services.env'))).not.toContain('ACL');
    redis.disconnect();
  });

  it('makes NATS reload the accounts of workers when they change, and end with its container', async () => {
    const [port, workers] = [await freePort(), file('nats/workers/workers.conf')];
    const conf = file('nats/watched.conf');
    writeFileSync(conf, readText(file('nats/nats.conf')).replace('"/data"', JSON.stringify(file('data2'))));
    const server = [requireProgram('nats-server'), '-c', conf, '-a', '127.0.0.1', '-p', String(port)];
    const child = spawnLeashed('sh', [join(root, 'tools/container/run-nats.sh'), workers, ...server], {});
    await eventually(() => accepts(port), { withinMs: 20_000 });
    const connectAs = (user: string) => connect({ servers: `127.0.0.1:${port}`, user, pass: 'pw', reconnect: false });
    await expect(connectAs('w1')).rejects.toThrow();

    writeFileSync(
      workers,
      renderNatsAccounts(new Map([['w1', { tenant: 'default', natsHash: 'pw', redisDigest: '' }]])),
    );
    let connection: Awaited<ReturnType<typeof connect>> | undefined;
    await eventually(async () => void (connection ??= await connectAs('w1')), { withinMs: 10_000 });
    writeFileSync(workers, '');
    await connection?.closed();

    await endChild(child, 'SIGTERM');
    await eventually(async () => expect(await accepts(port).catch(() => false)).toBe(false));
  }, 40_000);

  it('makes no users of workers without a credential where attestation is enforced', async () => {
    const strict = mkdtempSync(join(tmpdir(), 'svc-container-strict-'));
    const options = { dir: strict, poolsFile: 'config/pools.yaml', nats: 'nats:4222', redis: 'redis:6379', print: () => undefined }; // prettier-ignore
    await runContainerCredentials({ ...options, args: [], attestation: 'enforce' });

    expect(readText(join(strict, 'nats/nats.conf'))).not.toContain('pool-demo');
    expect(readText(join(strict, 'redis/users.acl'))).not.toContain('pool-demo');
    const more = { ...options, args: ['--pool', 'demo', '--worker', 'w1'], attestation: 'enforce' };
    await expect(runContainerCredentials(more)).rejects.toThrow('workers need a credential');
    rmSync(strict, { recursive: true, force: true });
  });

  it('changes nothing when it runs again', () => {
    const before = readText(file('secrets.json')) + readText(file('nats/nats.conf'));

    run();

    expect(readText(file('secrets.json')) + readText(file('nats/nats.conf'))).toBe(before);
  });

  it('adds a worker and the Redis user of its pool, and prints its variables', async () => {
    writeFileSync(file('pools.yaml'), 'topics: {job.new: fresh}\n');
    let printed = '';
    await runContainerCredentials({
      args: ['--pool', 'fresh', '--worker', 'w1'],
      dir,
      poolsFile: file('pools.yaml'),
      attestation: undefined,
      nats: 'nats:4222',
      redis: `127.0.0.1:${redisPort}`,
      print: (text) => (printed += text),
    });

    const variables = new Map(printed.trim().split('\n').map((line) => line.split(/=(.*)/) as [string, string])); // prettier-ignore
    expect(variables.get('NATS_URL')).toMatch(/^nats:\/\/fresh\.w1:\w[\w-]+@nats:4222$/);
    const redis = new Redis(variables.get('REDIS_URL') ?? '');
    expect(await redis.set('res:x', '1')).toBe('OK');
    redis.disconnect();
    expect(readText(file('nats/nats.conf'))).toContain('worker.w1.jobs');
  });

  it('prints help, and errors in its options', () => {
    expect(run('--help')).toContain('docker compose run --rm credentials');
    expect(() => run('--pool', 'demo')).toThrow('--worker');
  });
});
