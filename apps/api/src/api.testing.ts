import { builtInRoles, type Role } from '@svc/contract';
import { mount, serve, type Listening, type MountOptions } from '@svc/http';
import type { Sessions } from '@svc/identity';
import type { Kernel } from '@svc/kernel-client';
import { openEndings, openPlatform, openServiceKernel, type Platform } from '@svc/platform';
import { queues } from '@svc/queues.config';
import {
  apiEnv,
  approvalMetrics,
  auditMetrics,
  commonMetrics,
  dispatchMetrics,
  gatewayMetrics,
  Health,
  kernelMetrics,
  openMetrics,
  readEnv,
  silentLogger,
  systemClock,
  type ApiEnv,
  type Boot,
} from '@svc/runtime';
import { openAudit, openAuditExport } from '@svc/audit';
import { openWorkerTrust } from '@svc/worker-trust';
import { followWorkers, openRegistry, type WorkerRegistry } from '@svc/dispatch';
import { ConfiguredFleet, openFleetFiles } from '@svc/registry';
import type { Store } from '@svc/store';
import { eventually, useServers, type Servers } from '@svc/testing';
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { mountAdmin } from './admin/mount-admin';
import { buildContext } from './build-context';
import { caller, type Calls } from './caller.testing';
import type { ApiContext } from './context';
import { givenJobs, type GivenJobs } from './given-jobs.testing';
import { identities, signLicense, type Who } from './identities.testing';
import { bundleKeys } from './bundle-keys.testing';
import { mountOptions } from './mount-options';
import { openAccess } from './open-access';
import { openCredentialNotices } from './open-credential-notices';
import { openIdentity } from './open-identity';
import { routes } from './routes';
import { openTenantStops } from './open-tenant-stops';
import { openStreams } from './streams/open-streams';
import { serveStreams } from './streams/serve-streams';

export interface UseApiOptions {
  /** Additional environment variables. */
  env?: Readonly<Record<string, string>>;
  mount?: Partial<MountOptions>;
  context?: (ctx: ApiContext) => ApiContext;
  /** Also serves the admin pages. */
  admin?: boolean;
}

/** Subject and encoded body of a published packet. */
export interface Published {
  subject: string;
  bytes: Uint8Array;
}

/** A gateway on a port, with real dependencies that are private to the test file. */
export interface Api {
  readonly url: string;
  readonly store: Store;
  readonly ctx: ApiContext;
  readonly kernel: Kernel;
  readonly bus: Platform['bus'];
  /** The gateway's view of live workers. */
  readonly registry: WorkerRegistry;
  readonly servers: Servers;
  readonly options: MountOptions;
  readonly sessions: Sessions;
  /** Path of a shipped configuration file. */
  config(file: string): string;
  readonly given: GivenJobs;
  /** Unexpected errors; a test that leaves any fails. */
  readonly defects: unknown[];
  as(who: Who): Calls;
  /** Without credentials. */
  readonly anonymous: Calls;
  /** The text of `/metrics`. */
  metrics(): Promise<string>;
  /** Subjects of packets published since the test began, in order. */
  packets(): Promise<string[]>;
  published(): Promise<Published[]>;
  /** Changes the license in effect; every test begins with Community. */
  license(
    plan: 'community' | 'team' | 'enterprise',
    granted?: Readonly<Record<string, unknown>>,
    /** Other fields of the license. */
    more?: Readonly<Record<string, unknown>>,
  ): void;
  /** Writes the license file, which nothing reads before the next reload. */
  writeLicense(text: string): void;
  /** Replaces the policy and resolves when it is in effect; `undefined` restores the shipped one. */
  policy(text?: string): Promise<void>;
}

const config = (file: string) => join(__dirname, '../../../config', file);

/** Every built-in role, and one that only a custom role store would define. */
export const roles: Readonly<Record<string, Role>> = {
  ...builtInRoles,
  clerk: { description: 'Reads dead letters', permissions: ['dlq.read'], inherits: [] },
};

interface Running {
  metrics(): Promise<string>;
  platform: Platform;
  registry: WorkerRegistry;
  kernel: Kernel;
  ctx: ApiContext;
  fleet: ConfiguredFleet;
  listening: Listening;
  dir: string;
  options: MountOptions;
  sessions: Sessions;
}

/** Call at the top of a `describe`: a gateway on stores that are private to the test file and emptied before each test. */
export function useApi(wanted: UseApiOptions = {}): Api {
  const defects: unknown[] = [];
  const packets: Published[] = [];
  const stops: { name: string; run: () => unknown }[] = [];
  let open: Running | undefined;
  const running = () => {
    if (!open) throw new Error('the gateway runs only inside hooks and tests');
    return open;
  };

  // Before the servers' own hooks: hooks run in the order they are registered, and clients must end first.
  afterAll(async () => {
    for (const { run } of stops.reverse()) await run();
    if (open) rmSync(open.dir, { recursive: true, force: true });
  }, 30_000);
  const servers = useServers({ streams: 'purge' });
  beforeAll(async () => {
    open = await start(servers, wanted, {
      defects,
      published: packets,
      onStop: (name, run) => void stops.push({ name, run }),
    });
  }, 30_000);
  beforeEach(async () => {
    const { platform } = running();
    defects.length = 0;
    api.license('community');
    running().ctx.submit.config.changed();
    await running().ctx.access.roleBook.sync();
    await running().ctx.access.managedKeys.sync();
    await running().fleet.refresh();
    await platform.bus.flush();
    packets.length = 0;
  });
  afterEach(async () => {
    // A test may have stopped them, and open connections can only be closed while they respond.
    await Promise.all([servers.redis.start(), servers.nats.start()]);
    await eventually(() => running().platform.store.redis.ping());
    await eventually(() => running().platform.bus.status().isConnected);
    expect(defects).toEqual([]);
  });

  const published = async () => {
    await running().platform.bus.flush();
    return [...packets];
  };
  const api: Api = {
    get url() {
      return `http://127.0.0.1:${running().listening.port}`;
    },
    get store() {
      return running().platform.store;
    },
    get ctx() {
      return running().ctx;
    },
    get kernel() {
      return running().kernel;
    },
    get bus() {
      return running().platform.bus;
    },
    get registry() {
      return running().registry;
    },
    get options() {
      return running().options;
    },
    get sessions() {
      return running().sessions;
    },
    servers,
    defects,
    config,
    get given() {
      return givenJobs(running().platform.store, running().kernel);
    },
    as: (who) => caller(api.url, { 'X-API-Key': identities[who].key }),
    get anonymous() {
      return caller(api.url, {});
    },
    metrics: () => running().metrics(),
    published,
    packets: async () => (await published()).map(({ subject }) => subject),
    license(plan, granted = {}, more = {}) {
      const signed = plan === 'community' ? '' : signLicense(plan, granted, more);
      api.writeLicense(signed || '{}');
      running().platform.license.reload();
    },
    writeLicense: (text) => writeFileSync(join(running().dir, 'license.json'), text),
    async policy(text) {
      const { dir, kernel } = running();
      const [before] = await kernel.listSnapshots();
      writeFileSync(join(dir, 'safety.yaml'), text ?? readFileSync(config('safety.yaml')));
      await eventually(async () => (await kernel.listSnapshots())[0] !== before);
    },
  };
  return api;
}

interface Observers {
  defects: unknown[];
  published: Published[];
  onStop: Boot<ApiEnv>['onStop'];
}

/** Does what `main.ts` does, with the files of the test, and checks every response against its declaration. */
async function start(
  servers: Servers,
  wanted: UseApiOptions,
  { defects, published: recorded, onStop }: Observers,
): Promise<Running> {
  const dir = mkdtempSync(join(tmpdir(), 'svc-test-api-'));
  copyFileSync(config('safety.yaml'), join(dir, 'safety.yaml'));
  const env = readEnv(apiEnv, {
    REDIS_URL: servers.redisUrl,
    NATS_URL: servers.natsUrl,
    GATEWAY_METRICS_ADDR: '127.0.0.1:0',
    SVC_API_KEYS: JSON.stringify(Object.values(identities)),
    TENANT_ID: 'acme',
    SVC_LICENSE_FILE: join(dir, 'license.json'),
    SVC_LICENSE_PUBLIC_KEY: signLicense.publicKey,
    SAFETY_POLICY_PATH: join(dir, 'safety.yaml'),
    SAFETY_POLICY_RELOAD_INTERVAL: '1s',
    ...bundleKeys.env,
    OUTPUT_SCANNERS_PATH: config('output_scanners.yaml'),
    POOL_CONFIG_PATH: config('pools.yaml'),
    TIMEOUT_CONFIG_PATH: config('timeouts.yaml'),
    REDIS_RATE_LIMIT: 'false',
    API_RATE_LIMIT_RPS: '100000',
    API_RATE_LIMIT_BURST: '100000',
    ...wanted.env,
  }).values;
  writeFileSync(env.licenseFile ?? '', '{}');
  const clock = systemClock();
  const health = new Health({ clock });
  const build = { version: '0.0.0', commit: 'c', date: '', protocol: 1 };
  const boot = { env, log: silentLogger, health, clock, build, stopping: new AbortController().signal, onStop };
  const opened = openMetrics(
    { ...gatewayMetrics, ...dispatchMetrics, ...approvalMetrics, ...commonMetrics, ...kernelMetrics, ...auditMetrics },
    { pod: 'p' },
  );
  const { metrics } = opened;
  const probes = { addr: env.metricsAddr, open: false };
  const platform = await openPlatform(boot, { service: 'gateway', queues, probes, metrics: opened });
  const registry = openRegistry(env);
  const trust = await openWorkerTrust(boot, platform);
  const streams = await openStreams(boot, platform, trust, metrics);
  await followWorkers(boot, platform, registry, trust, streams.onHeartbeat);
  const onProblem = (problem: unknown) => void defects.push(problem);
  const fleetHooks = { onProblem, onChange: () => undefined };
  const files = await openFleetFiles(
    { poolsPath: env.poolConfigPath, timeoutsPath: env.timeoutConfigPath, production: false },
    fleetHooks,
  );
  const fleet = new ConfiguredFleet(files, platform.store, env, fleetHooks);
  const { kernel, policyFindings } = await openServiceKernel(boot, platform, metrics);
  const audit = await openAudit(boot, { ...platform, metrics });
  const auditExport = openAuditExport(boot, { ...platform, metrics, audit });
  const notices = openCredentialNotices(boot, platform);
  const access = await openAccess(boot, platform.store, notices);
  const { roleBook } = access;
  const stored = roleBook.all.bind(roleBook);
  roleBook.all = () => ({ ...roles, ...stored() });
  const stops = await openTenantStops(boot, platform, notices);
  const identity = openIdentity(boot, platform, notices, access, stops.has);
  const built = buildContext(boot, {
    access,
    audit,
    identity,
    notices,
    auditExport,
    streams,
    platform,
    fleet,
    registry,
    kernel,
    policyFindings,
    metrics,
    endings: await openEndings(boot),
  });
  const ctx = wanted.context?.(built) ?? built;
  const { sessions } = identity;
  const { dataUrls, scim, submit } = ctx;
  const usual = mountOptions(boot, {
    platform,
    identity,
    access,
    notices,
    metrics,
    config: submit.config,
    dataUrls,
    scim,
    audit,
  });
  const options: MountOptions = {
    ...usual,
    checkAnswers: true,
    onDefect: onProblem,
    ...wanted.mount,
  };
  const timeouts = { requestTimeoutMs: 10_000, idleTimeoutMs: 10_000, writeTimeoutMs: 10_000 };
  const surface = mount(routes, ctx, options);
  if (wanted.admin) mountAdmin(surface.app, boot, { store: platform.store, users: ctx.users, surface: options });
  const listening = await serve(surface.finish(), {
    host: '127.0.0.1',
    port: 0,
    ...timeouts,
    maxConnections: 1_000,
    maxConnectionsPerAddress: 1_000,
    onProblem,
  });
  onStop('http', () => listening.close(100));
  serveStreams(boot, listening, { ctx, options, metrics, ...streams });
  platform.bus.tap('sys.>', ({ subject, bytes }) => void recorded.push({ subject, bytes }));
  await platform.bus.flush();
  health.started();
  return { metrics: () => opened.text(), platform, registry, kernel, ctx, fleet, listening, dir, options, sessions };
}
