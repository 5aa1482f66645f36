import { queues } from '@svc/queues.config';
import { systemClock } from '@svc/runtime';
import { changeDocument, defaultPlace } from '@svc/settings';
import { openStore, type Store } from '@svc/store';
import { startNats, startRedis, type TestServer } from '@svc/testing';
import { Redis } from 'ioredis';
import { connect, type NatsConnection } from 'nats';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildApps } from '../stack/build';
import { getAddress, environments } from '../stack/environment';
import { ensureKeys, type Keys } from '../stack/keys';
import { ensureAuditKeys } from '../stack/audit-keys';
import { ensureDelegationKey } from '../stack/delegation-key';
import { ensureGrantKey } from '../stack/grant-key';
import { ensurePacketKey, type PacketKey } from '../stack/packet-key';
import { ensurePolicyKey } from '../stack/policy-key';
import { ensureLicense } from '../stack/license';
import { portPicker } from '../stack/ports';
import { answersOk } from '../stack/probe';
import { coreServices, repositoryRoot, type ServicePlan } from '../stack/settings';
import { Supervised, type UnaskedEnd } from '../stack/supervised';
import { JournalClient } from './client';
import { startNatsCrashProxy, startRedisCrashProxy } from './crash-proxy';
import type { Answer, Call, Outage } from './history';
import { Operations } from './operations';
import { ServiceClock } from './service-clock';

/** One service process, restarted whenever it exits. */
export interface Service {
  name: string;
  operations: Operations;
  process: Supervised;
  clock: ServiceClock;
}

/** Addresses of the servers as seen by a service, if not their own. */
export interface Detour {
  redisUrl: string;
  natsUrl: string;
  close(): Promise<void>;
}

export interface WorldOptions {
  services?: readonly ServicePlan[];
  /** Additional variables of the services. */
  env?: Record<string, string>;
  /** Places proxies between a service and its servers; by default the crash proxies. */
  detour?(service: string, ports: { redis: number; nats: number }, operations: Operations): Promise<Detour>;
  onLine?(service: string, line: string): void;
  onUnaskedEnd?(end: UnaskedEnd): void;
}

/** Redis, NATS and the services as processes, the journals of clients and workers, and direct store access. */
export interface World {
  redis: TestServer;
  nats: TestServer;
  services: ReadonlyMap<string, Service>;
  /** The harness' own connections. */
  store: Store;
  bus: NatsConnection;
  calls: Call[];
  answers: Answer[];
  /** Public key (PEM) by which workers verify the services, where the variables turn signatures or sessions on. */
  serviceKey: string;
  client(who: 'admin' | 'approver'): JournalClient;
  service(name: string): Service;
  stop(): Promise<void>;
}

/** Short timeouts, so that crashes are detected early; see docs/environment.md. */
const shortTimes = {
  WORKER_HEARTBEAT_TTL: '5s',
  WORKER_SNAPSHOT_INTERVAL: '1s',
  NATS_JS_ACK_WAIT: '2s',
  WORKFLOW_ENGINE_QUEUE_LOCK: '2s',
  WORKFLOW_ENGINE_QUEUE_STALLED_CHECK: '1s',
  WORKFLOW_ENGINE_SCAN_INTERVAL: '1s',
  SCHEDULER_QUEUE_LOCK: '2s',
  SCHEDULER_QUEUE_STALLED_CHECK: '1s',
};

/** After a crash, another engine continues a run once the entry's lock, the stalled check and the run's lock have passed. */
const takeoverMs = 2_000 + 1_000 + 2_000;

/** Records an outage, which ends when the engine has restarted and resumed its runs: from then on timers must be on time. */
export function trackOutage(engine: Supervised, fromMs = Date.now()): Outage {
  const outage = { fromMs, toMs: Infinity };
  void engine
    .untilReady()
    .then(() => (outage.toMs = Date.now() + takeoverMs))
    .catch(() => undefined); // the world is shutting down
  return outage;
}

/** Budgets without limits, so that costs are counted and nothing is rejected. */
const everythingCounts = { daily_limit_usd: 0, monthly_limit_usd: 0, per_job_max_usd: 0, per_workflow_max_usd: 0 };

const configFile = (name: string) => join(__dirname, 'config', name);
/** Starts all processes; builds the services first if needed. */
export async function startWorld(options: WorldOptions = {}): Promise<World> {
  const services = options.services ?? coreServices;
  await buildApps(services.map(({ name }) => name));
  const dataDir = mkdtempSync(join(tmpdir(), 'svc-chaos-'));
  const [redis, nats] = await Promise.all([startRedis(), startNats()]);
  const keys = ensureKeys(join(dataDir, 'api-keys.json'), 'default');
  const packetKey = ensurePacketKey(join(dataDir, 'packet-key.pem'), join(dataDir, 'packet-key.pub.pem'));
  const envs = await buildEnvironments(options, services, { dataDir, keys, packetKey });
  const detour = options.detour ?? crashProxies;
  const detours: Detour[] = [];
  const running = new Map<string, Service>();
  for (const plan of services) {
    const operations: Operations = new Operations(() => kill(running.get(plan.name)?.process.pid));
    const way = await detour(plan.name, { redis: redis.port, nats: nats.port }, operations);
    detours.push(way);
    const clock = new ServiceClock(join(dataDir, `clock-of-${plan.name}`));
    const env = { ...envs[plan.name], ...clock.env, REDIS_URL: way.redisUrl, NATS_URL: way.natsUrl };
    running.set(plan.name, { name: plan.name, operations, process: supervise(plan, env, options), clock });
  }
  const look = new Redis(redis.url).on('error', () => undefined); // reconnects; commands wait until then
  const store = openStore(look, queues, { metaSec: 86_400, dataSec: 86_400 });
  await changeDocument({ store, clock: systemClock() }, defaultPlace, () => ({ data: { budget: everythingCounts } }));
  for (const stage of new Set(services.map((plan) => plan.stage))) {
    const names = services.filter((plan) => plan.stage === stage).map(({ name }) => name);
    await Promise.all(names.map((name) => running.get(name)?.process.start()));
  }

  const bus = await connect({ servers: nats.url, maxReconnectAttempts: -1, reconnectTimeWait: 50 });
  const baseUrl = `http://${getAddress(envs['api'], 'GATEWAY_HTTP_ADDR')}`;
  const calls: Call[] = [];
  return {
    redis,
    nats,
    services: running,
    store,
    bus,
    calls,
    answers: [],
    serviceKey: readFileSync(packetKey.publicKeyFile, 'utf8'),
    client: (who) => new JournalClient({ baseUrl, apiKey: keys.keys[who], journal: calls }),
    service(name) {
      const found = running.get(name);
      if (!found) throw new Error(`no process ${name}; there are ${[...running.keys()].join(', ')}`);
      return found;
    },
    async stop() {
      await Promise.all([...running.values()].map(({ process }) => process.stop(5_000)));
      look.disconnect();
      await bus.close();
      await Promise.all(detours.map((way) => way.close()));
      await Promise.all([redis.stop(), nats.stop()]);
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}

async function buildEnvironments(
  { env = {} }: WorldOptions,
  services: readonly ServicePlan[],
  { dataDir, keys, packetKey }: { dataDir: string; keys: Keys; packetKey: PacketKey },
): Promise<Record<string, NodeJS.ProcessEnv>> {
  const callerEnv = {
    PATH: process.env['PATH'],
    HOME: process.env['HOME'],
    SAFETY_POLICY_PATH: configFile('safety.yaml'),
    POOL_CONFIG_PATH: configFile('pools.yaml'),
    TIMEOUT_CONFIG_PATH: configFile('timeouts.yaml'),
    ...shortTimes,
    ...env,
  };
  const license = ensureLicense(join(dataDir, 'license'), 'enterprise', Date.now());
  const plan = { plan: 'enterprise', files: license } as const;
  const policyKey = ensurePolicyKey(join(dataDir, 'policy-key.pem'));
  const auditKeys = ensureAuditKeys(dataDir);
  const delegationKey = ensureDelegationKey(dataDir);
  const given = {
    callerEnv,
    services,
    redisUrl: '',
    natsUrl: '',
    keys,
    certificates: undefined,
    license: plan,
    policyKey,
    auditKeys,
    delegationKey,
    packetKey,
    grantKey: ensureGrantKey(dataDir),
  };
  // Any free port: several worlds may run at once, also next to a developer's own stack.
  const pick = portPicker(false);
  return environments(given, () => pick(0));
}

function supervise(plan: ServicePlan, env: NodeJS.ProcessEnv, { onLine, onUnaskedEnd }: WorldOptions): Supervised {
  const readyUrl = `http://${getAddress(env, plan.readyAt)}/readyz`;
  return new Supervised(
    {
      name: plan.name,
      command: process.execPath,
      args: [join(repositoryRoot, plan.main)],
      cwd: repositoryRoot,
      env,
      isReady: () => answersOk(readyUrl),
    },
    {
      onLine: (line) => onLine?.(plan.name, line),
      onChange: () => undefined,
      ...(onUnaskedEnd && { onUnaskedEnd }),
      firstPauseMs: 20,
      longestPauseMs: 20,
    },
  );
}

async function crashProxies(_: string, ports: { redis: number; nats: number }, operations: Operations) {
  const [redis, nats] = await Promise.all([
    startRedisCrashProxy(ports.redis, operations),
    startNatsCrashProxy(ports.nats, operations),
  ]);
  return {
    redisUrl: redis.url,
    natsUrl: nats.url,
    close: async () => void (await Promise.all([redis.close(), nats.close()])),
  };
}

function kill(pid: number | undefined): void {
  if (pid !== undefined) process.kill(pid, 'SIGKILL');
}
