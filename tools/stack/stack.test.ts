import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createPrivateKey, createPublicKey } from 'node:crypto';
import { request } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Redis from 'ioredis';
import { accepts, eventually } from '@svc/testing';
import { readGatewayEnvironment } from './gateway-environment';
import { startStack, type ServicePlan, type Stack, type StackInfo, type StackOptions } from './index';

const main = 'tools/stack/sample-service.fixture.cjs';
const services: ServicePlan[] = [
  { name: 'scheduler', stage: 2, main, ports: { SCHEDULER_METRICS_ADDR: 9090 }, readyAt: 'SCHEDULER_METRICS_ADDR' },
  {
    name: 'api',
    stage: 3,
    main,
    ports: { GATEWAY_HTTP_ADDR: 8081, GATEWAY_GRPC_ADDR: 8080, GATEWAY_METRICS_ADDR: 9092 },
    readyAt: 'GATEWAY_HTTP_ADDR',
    readyOverTls: true,
  },
];
const folders: string[] = [];
const folder = () => {
  const made = mkdtempSync(join(tmpdir(), 'svc-stack-'));
  folders.push(made);
  return made;
};
const callerEnv = (more: NodeJS.ProcessEnv = {}) => ({ PATH: process.env['PATH'], ...more });
const start = (options: StackOptions = {}) =>
  startStack({ dataDir: folder(), build: false, services, env: callerEnv(), ...options });
const onDisk = (dataDir: string) => JSON.parse(readFileSync(join(dataDir, 'stack.json'), 'utf8')) as StackInfo;
const getPort = (url: string) => Number(new URL(url).port);

/** The environment of the sample gateway, read over HTTPS with only the stack's authority trusted. */
const gatewayEnv = ({ info }: Stack) =>
  new Promise<Record<string, string>>((resolve, reject) => {
    request(`${info.base_url}/env`, { ca: readFileSync(info.ca_file), agent: false }, (response) => {
      let text = '';
      response.on('data', (part: Buffer) => (text += part.toString()));
      response.on('end', () => resolve(JSON.parse(text) as Record<string, string>));
    })
      .on('error', reject)
      .end();
  });

/** Command lines of all processes on this machine; empty without /proc. */
const commandLines = () =>
  (existsSync('/proc') ? readdirSync('/proc') : [])
    .filter((name) => /^\d+$/.test(name) && existsSync(`/proc/${name}/cmdline`))
    .map((pid) => commandLine(pid));
const commandLine = (pid: string) => {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
  } catch {
    return ''; // the process has exited since
  }
};

afterAll(() => folders.forEach((dir) => rmSync(dir, { recursive: true, force: true })));

describe('startStack', () => {
  let stack: Stack;
  beforeAll(async () => (stack = await start()), 60_000);
  afterAll(() => stack.stop(), 30_000);

  it('writes addresses and credentials to stack.json, readable by its owner only', () => {
    const written = onDisk(stack.info.data_dir);

    expect(written).toEqual(stack.info);
    expect(statSync(join(stack.info.data_dir, 'stack.json')).mode & 0o777).toBe(0o600);
    expect(Object.keys(written.pids)).toEqual(['redis', 'nats', 'scheduler', 'api']);
    expect(written.license).toBe('enterprise');
  });

  it('stores what the gateway reads of its environment for the doctor, for its owner only', async () => {
    const { env = {}, caFile } = readGatewayEnvironment(stack.info.data_dir) ?? {};

    expect(await gatewayEnv(stack)).toMatchObject(env);
    expect(env).toMatchObject({ NATS_URL: stack.info.nats_url, GATEWAY_HTTP_ADDR: expect.any(String) });
    expect(env).not.toHaveProperty('PATH');
    expect(caFile).toBe(stack.info.ca_file);
    expect(statSync(join(stack.info.data_dir, 'gateway-env.json')).mode & 0o777).toBe(0o600);
  });

  it('creates one key per role, and two administrators for one tenant', () => {
    const { keys, principals } = stack.info;

    expect(new Set(Object.values(keys)).size).toBe(6);
    expect(principals.approver).toEqual({ ...principals.admin, principal_id: 'local-approver' });
    expect(principals.other_tenant.tenant).not.toBe(principals.admin.tenant);
  });

  it('serves HTTPS with a certificate of its own authority, and configures the services', async () => {
    const env = await gatewayEnv(stack);

    expect(stack.info.base_url).toMatch(/^https:/);
    const [services, operator] = [new URL(env['REDIS_URL'] ?? ''), new URL(stack.info.redis_url)];
    expect([services.host, services.username, operator.username]).toEqual([operator.host, 'svc', 'admin']);
    expect(env['NATS_URL']).toBe(stack.info.nats_url);
    expect(readFileSync(env['SVC_API_KEYS_PATH'] ?? '', 'utf8')).toContain(stack.info.keys.admin);
    expect(readFileSync(env['SVC_LICENSE_FILE'] ?? '', 'utf8')).toContain('"enterprise"');
    const key = createPrivateKey(readFileSync(env['SVC_POLICY_SIGNING_KEY_PATH'] ?? ''));
    expect(statSync(env['SVC_POLICY_SIGNING_KEY_PATH'] ?? '').mode & 0o777).toBe(0o600);
    const trusted = createPublicKey(key).export({ type: 'spki', format: 'der' }).toString('base64');
    expect(env).toMatchObject({ SVC_POLICY_PUBLIC_KEY_LOCAL: trusted, SVC_POLICY_STRICT: 'enforce' });
    expect(env).not.toHaveProperty('SVC_PACKET_SIGNING_KEY_PATH');
    expect(env['SVC_DATA_URL_BASE']).toBe(stack.info.base_url);
    expect(env['SVC_DATA_URL_KEY']).toHaveLength(43);
    expect(env['SVC_RESULT_TICKET_KEYS']).toHaveLength(43);
  });

  it.each(['api', 'scheduler', 'nats'])(
    'restarts %s when it is killed, and stack.json has the new pid',
    async (name) => {
      const before = stack.info.pids[name];

      await stack.kill(name);
      await stack.untilReady(name);

      const after = stack.info.pids[name];
      expect(after).not.toBe(before);
      expect(onDisk(stack.info.data_dir).pids[name]).toBe(after);
    },
  );

  it('loses no acknowledged write when Redis is killed', async () => {
    const redis = new Redis(stack.info.redis_url);
    await redis.set('kept', 'yes');

    await stack.kill('redis');
    await stack.untilReady('redis');

    expect(await redis.get('kept')).toBe('yes');
    redis.disconnect();
  });

  it('does not restart a halted process until it is resumed', async () => {
    await stack.halt('scheduler');
    expect(onDisk(stack.info.data_dir).pids['scheduler']).toBeUndefined();

    await stack.resume('scheduler');

    expect(onDisk(stack.info.data_dir).pids['scheduler']).toBe(stack.info.pids['scheduler']);
  });

  it('runs at the same time as another stack', async () => {
    const other = await start();

    expect(other.info.base_url).not.toBe(stack.info.base_url);
    expect(other.info.redis_url).not.toBe(stack.info.redis_url);

    await other.stop();
  }, 30_000);

  it('rejects a folder that another running stack uses', async () => {
    const dataDir = folder();
    writeFileSync(join(dataDir, 'stack.json'), JSON.stringify({ supervisor_pid: process.ppid }));

    await expect(start({ dataDir })).rejects.toThrow('already runs');
  });
});

describe('the end of a stack', () => {
  it('stops the services while the stores are available, then the stores, and removes stack.json', async () => {
    const log = join(folder(), 'stops');
    const stack = await start({ env: callerEnv({ STOP_LOG: log }) });
    const { data_dir, redis_url, nats_url } = stack.info;

    await stack.stop();

    expect(readFileSync(log, 'utf8').trim().split('\n').sort()).toEqual(['api true true', 'scheduler true true']);
    expect(await accepts(getPort(redis_url))).toBe(false);
    expect(await accepts(getPort(nats_url))).toBe(false);
    expect(() => onDisk(data_dir)).toThrow('ENOENT');
  }, 30_000);

  it('keeps data and keys for the next start', async () => {
    const dataDir = folder();
    const first = await start({ dataDir });
    const redis = new Redis(first.info.redis_url);
    await redis.set('kept', 'yes');
    redis.disconnect();
    await first.stop();

    const second = await start({ dataDir });

    const again = new Redis(second.info.redis_url);
    expect(await again.get('kept')).toBe('yes');
    expect(second.info.keys).toEqual(first.info.keys);
    again.disconnect();
    await second.stop();
  }, 30_000);
});

describe('a start with settings of the caller', () => {
  it('prefers variables of the caller, related ones together, and uses external Redis and NATS', async () => {
    const first = await start();
    const { redis_url, nats_url } = first.info;

    const env = callerEnv({
      REDIS_URL: redis_url,
      NATS_URL: nats_url,
      SVC_LOG_LEVEL: 'debug',
      SVC_LICENSE_TOKEN: 'own',
      SVC_POLICY_STRICT: 'warn',
    });
    const second = await start({ env });

    const seen = await gatewayEnv(second);
    expect(Object.keys(second.info.pids)).toEqual(['scheduler', 'api']);
    expect(seen).toMatchObject({ REDIS_URL: redis_url, SVC_LOG_LEVEL: 'debug', SVC_LICENSE_TOKEN: 'own' });
    expect([seen['SVC_LICENSE_FILE'], seen['SVC_POLICY_SIGNING_KEY_PATH']]).toEqual([undefined, undefined]);
    await second.stop();
    await first.stop();
  }, 30_000);

  it('signs packets with one variable: the key exists, and its public part is for workers', async () => {
    const stack = await start({ env: callerEnv({ SVC_PACKET_SIGNATURES: 'warn' }) });
    const { SVC_PACKET_SIGNING_KEY_PATH: file = '' } = await gatewayEnv(stack);

    expect(statSync(file).mode & 0o777).toBe(0o600);
    const publicKey = createPublicKey(readFileSync(file)).export({ type: 'spki', format: 'pem' });
    expect(readFileSync(stack.info.service_key_file, 'utf8')).toBe(publicKey);

    await stack.stop();
  }, 30_000);

  it('serves plain HTTP when TLS is off', async () => {
    const stack = await start({ tls: false });

    expect(stack.info.base_url).toMatch(/^http:/);
    expect(stack.info.ca_file).toBe('');
    expect(await (await fetch(`${stack.info.base_url}/readyz`)).text()).toBe('ok');

    await stack.stop();
  }, 30_000);

  it('fails with the last output of a service that cannot start, and leaves no process running', async () => {
    const dataDir = folder();
    const failing = start({ dataDir, env: callerEnv({ FAIL_START: '1' }) });

    await expect(failing).rejects.toThrow(/scheduler ended before it was ready[^]*the sample cannot start/);

    await eventually(() => expect(commandLines().filter((line) => line.includes(dataDir))).toEqual([]));
  }, 30_000);
});
