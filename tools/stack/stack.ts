import { mkdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { buildApps } from './build';
import { ensureCertificates } from './certificates';
import { getAddress, environments } from './environment';
import { keepGatewayEnvironment, removeGatewayEnvironment } from './gateway-environment';
import { removeInfo, runningSupervisor, writeInfo, type StackInfo } from './info';
import { ensureKeys } from './keys';
import { ensureAuditKeys } from './audit-keys';
import { ensureDelegationKey } from './delegation-key';
import { ensureGrantKey } from './grant-key';
import { ensurePacketKey } from './packet-key';
import { ensurePolicyKey } from './policy-key';
import { ensureLicense } from './license';
import { portPicker } from './ports';
import { answersOk } from './probe';
import { reloadOnChange } from './reload-on-change';
import { repositoryRoot, listServices, type ServicePlan, type StackOptions } from './settings';
import { planStores, type StoreAccess } from './stores';
import { Supervised, type ProcessPlan } from './supervised';

/** A running stack: Redis, NATS and the services, each a process that is restarted when it exits. */
export interface Stack {
  /** As in stack.json; `pids` is current when read. */
  readonly info: StackInfo;
  /** For clients of the stack: addresses, the admin key, the authority. */
  readonly env: Readonly<Record<string, string>>;
  /** Stops all processes in order, within 15 seconds. */
  stop(): Promise<void>;
  /** Restarts one process gracefully; resolves when it is ready. */
  restart(service: string): Promise<void>;
  /** Kills one process; the supervisor restarts it. Resolves when it has exited. */
  kill(service: string, signal?: NodeJS.Signals): Promise<void>;
  /** Stops one process until `resume`. */
  halt(service: string, signal?: NodeJS.Signals): Promise<void>;
  resume(service: string): Promise<void>;
  /** Resolves when the process is ready. */
  untilReady(service: string): Promise<void>;
}

const servicesStopWithinMs = 9_000;
const storeStopsWithinMs = 2_500;

/** @throws Error when a stack already runs on this folder, a build fails or a process does not become ready */
export async function startStack(options: StackOptions = {}): Promise<Stack> {
  const progress = options.onProgress ?? (() => undefined);
  const dataDir = resolve(options.dataDir ?? join(repositoryRoot, '.svc'));
  const infoFile = join(dataDir, 'stack.json');
  const other = runningSupervisor(infoFile);
  if (other !== undefined) {
    throw new Error(
      `a stack already runs on ${dataDir} (process ${other}); stop it or name another folder with --data`,
    );
  }
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  const services = listServices(options);
  if (options.build ?? true) {
    progress('building the services');
    await buildApps(services.map(({ name }) => name));
  }

  const plan = await planStack(options, dataDir, services);
  const supervise = (process: ProcessPlan) =>
    new Supervised(process, {
      onLine: (line) => options.onLine?.(process.name, line),
      onChange: () => isUp && writeInfo(infoFile, info()),
    });
  const stores = plan.stores.map(supervise);
  const running = plan.processes.map(supervise);
  const all = [...stores, ...running];
  const info = (): StackInfo => ({
    ...plan.info,
    ...plan.storeAccess(),
    pids: Object.fromEntries(all.flatMap(({ name, pid }) => (pid === undefined ? [] : [[name, pid]]))),
  });
  let isUp = false;

  const nats = stores.find(({ name }) => name === 'nats');
  const endReloads =
    plan.natsWorkersFile === undefined ? undefined : reloadOnChange(plan.natsWorkersFile, () => nats?.pid);
  const stop = async () => {
    isUp = false;
    endReloads?.();
    progress('stopping the services');
    // The gateway first: it accepts no more requests while the others finish their work.
    await Promise.all(running.map((service) => service.stop(servicesStopWithinMs)));
    for (const store of [...stores].reverse()) await store.stop(storeStopsWithinMs);
    removeInfo(infoFile);
    removeGatewayEnvironment(dataDir);
  };

  try {
    if (stores.length > 0) progress(`starting ${stores.map(({ name }) => name).join(' and ')}`);
    await Promise.all(stores.map((store) => store.start()));
    for (const stage of groupByStage(services)) {
      progress(`starting ${stage.join(' and ')}`);
      await Promise.all(running.filter(({ name }) => stage.includes(name)).map((service) => service.start()));
    }
    isUp = true;
    keepGatewayEnvironment(dataDir, plan.gatewayEnv);
    writeInfo(infoFile, info());
  } catch (error) {
    await stop();
    throw error;
  }

  const find = (name: string): Supervised => {
    const found = all.find((service) => service.name === name);
    if (!found)
      throw new Error(`no process ${name} in this stack; it has ${all.map((service) => service.name).join(', ')}`);
    return found;
  };
  return {
    get info() {
      return info();
    },
    env: clientEnv(info()),
    stop,
    async restart(name) {
      await find(name).stop();
      await find(name).start();
    },
    kill: (name, signal) => find(name).kill(signal),
    halt: (name, signal) => find(name).stop(undefined, signal),
    resume: (name) => find(name).start(),
    untilReady: (name) => find(name).untilReady(),
  };
}

interface Plan {
  stores: ProcessPlan[];
  natsWorkersFile: string | undefined;
  storeAccess(): StoreAccess;
  processes: ProcessPlan[];
  gatewayEnv: NodeJS.ProcessEnv;
  info: Omit<StackInfo, keyof StoreAccess | 'pids'>;
}

/** Determines all ports, addresses and files; starts no process. */
async function planStack(options: StackOptions, dataDir: string, services: readonly ServicePlan[]): Promise<Plan> {
  const callerEnv = options.env ?? process.env;
  const pickPort = portPicker(options.usualPorts ?? true);
  const { workers } = options;
  const stores = await planStores({ dataDir, callerEnv, pickPort, ...(workers && { workers }) });
  const { redis: redisUrl, nats: natsUrl } = stores.serviceUrls;

  const nowMs = Date.now();
  const tenant = callerEnv['TENANT_ID'] || 'default';
  const licensePlan = options.license ?? 'enterprise';
  const certificates = (options.tls ?? true) ? await ensureCertificates(join(dataDir, 'tls'), nowMs) : undefined;
  const license = { plan: licensePlan, files: ensureLicense(join(dataDir, 'license'), licensePlan, nowMs) };
  const keys = ensureKeys(join(dataDir, 'api-keys.json'), tenant);
  const policyKey = ensurePolicyKey(join(dataDir, 'policy-key.pem'));
  const auditKeys = ensureAuditKeys(dataDir);
  const packetKey = ensurePacketKey(join(dataDir, 'packet-key.pem'), join(dataDir, 'packet-key.pub.pem'));
  const grantKey = ensureGrantKey(dataDir);
  const generated = {
    callerEnv,
    services,
    redisUrl,
    natsUrl,
    schedulerVariables: stores.schedulerVariables,
    keys,
    certificates,
    license,
    policyKey,
    packetKey,
    grantKey,
    auditKeys,
    delegationKey: ensureDelegationKey(dataDir),
  };
  const envs = await environments(generated, pickPort);

  const hasTls = (env: NodeJS.ProcessEnv | undefined) => Boolean(env?.['GATEWAY_HTTP_TLS_CERT']);
  const caFile = callerEnv['SVC_TLS_CA'] || certificates?.ca;
  const ca = caFile ? readFileSync(caFile) : undefined;
  const processes = services.map(({ name, main, readyAt, readyOverTls = false }): ProcessPlan => {
    const env = envs[name] ?? {};
    const scheme = readyOverTls && hasTls(env) ? 'https' : 'http';
    const readyUrl = `${scheme}://${getAddress(env, readyAt)}/readyz`;
    const file = resolve(repositoryRoot, main);
    return {
      name,
      command: process.execPath,
      args: [file],
      cwd: repositoryRoot,
      env,
      isReady: () => answersOk(readyUrl, ca),
    };
  });

  const gateway = envs['api'] ?? Object.values(envs)[0];
  const path = (name: string) => resolve(repositoryRoot, gateway?.[name] ?? '');
  const probeAddress = ({ name, ports, readyAt }: ServicePlan) =>
    getAddress(envs[name], 'GATEWAY_METRICS_ADDR' in ports ? 'GATEWAY_METRICS_ADDR' : readyAt);
  const metricsUrls = Object.fromEntries(
    services.map((service) => [service.name, `http://${probeAddress(service)}/metrics`]),
  );
  return {
    stores: stores.processes,
    natsWorkersFile: stores.natsWorkersFile,
    storeAccess: () => stores.access(),
    processes,
    gatewayEnv: gateway ?? {},
    info: {
      base_url: `${hasTls(gateway) ? 'https' : 'http'}://${getAddress(gateway, 'GATEWAY_HTTP_ADDR')}`,
      grpc_addr: getAddress(gateway, 'GATEWAY_GRPC_ADDR'),
      metrics_url: metricsUrls['api'] ?? '',
      metrics_urls: metricsUrls,
      ca_file: caFile ?? '',
      tls: hasTls(gateway),
      tenant,
      keys: keys.keys,
      principals: keys.holders,
      policy_file: path('SAFETY_POLICY_PATH'),
      scanners_file: path('OUTPUT_SCANNERS_PATH'),
      pools_file: path('POOL_CONFIG_PATH'),
      timeouts_file: path('TIMEOUT_CONFIG_PATH'),
      license: licensePlan,
      service_key_file: packetKey.publicKeyFile,
      grant_key_file: grantKey.publicKeyFile,
      data_dir: dataDir,
      supervisor_pid: process.pid,
    },
  };
}

const groupByStage = (services: readonly ServicePlan[]): string[][] =>
  [...new Set(services.map(({ stage }) => stage))]
    .sort((a, b) => a - b)
    .map((stage) => services.filter((service) => service.stage === stage).map(({ name }) => name));

/** The command-line client's variables and the addresses of the stores. */
const clientEnv = (info: StackInfo): Record<string, string> => ({
  SVC_GATEWAY: info.base_url,
  SVC_API_KEY: info.keys.admin,
  SVC_TENANT_ID: info.tenant,
  NATS_URL: info.nats_url,
  REDIS_URL: info.redis_url,
  ...(info.ca_file && { SVC_TLS_CA: info.ca_file, NODE_EXTRA_CA_CERTS: info.ca_file }),
});
