import { mkdirSync } from 'node:fs';
import { connect } from 'node:net';
import { join, resolve } from 'node:path';
import { parseServerList } from '@svc/jetstream';
import type { PoolTable } from '@svc/routing';
import { requireProgram } from '@svc/testing';
import { readPools } from '../credentials/pools';
import { healthUser, type StoreIdentities } from '../credentials/render';
import { ensureCredentials, readIdentities } from '../credentials/secrets';
import { serviceUrls, workerAccess, type WorkerAccess } from '../credentials/worker-access';
import { answersOk } from './probe';
import type { PickPort } from './ports';
import { repositoryRoot } from './settings';
import type { ProcessPlan } from './supervised';

/** Addresses and credentials of the stores, as in stack.json. */
export interface StoreAccess {
  /** With user and password of the services. */
  nats_url: string;
  nats_user: string;
  nats_password: string;
  /** With the user of the operator, which may run every Redis command. */
  redis_url: string;
  redis_user: string;
  redis_password: string;
  /** Access of workers by pool; empty when the caller provides both stores. */
  workers: Record<string, WorkerAccess[]>;
}

export interface StoresPlan {
  processes: ProcessPlan[];
  /** Reloads the credentials, since workers can be added while the stack runs. */
  access(): StoreAccess;
  /** Addresses with the user of the services. */
  serviceUrls: { redis: string; nats: string };
  /** Variables of the scheduler, which makes users of workers from their credentials. */
  schedulerVariables: Record<string, string>;
  /** File that NATS must reload when it changes; undefined where the caller provides NATS. */
  natsWorkersFile: string | undefined;
}

export interface StoresOptions {
  dataDir: string;
  callerEnv: NodeJS.ProcessEnv;
  pickPort: PickPort;
  /** Workers with credentials, by pool, in addition to those of every pool. */
  workers?: Readonly<Record<string, readonly string[]>>;
}

export const credentialsDir = (dataDir: string): string => join(dataDir, 'credentials');
const natsDir = (dataDir: string): string => join(dataDir, 'nats');

/** The pools file of the services. */
export const poolsFile = (env: NodeJS.ProcessEnv): string =>
  resolve(repositoryRoot, env['POOL_CONFIG_PATH'] || 'config/pools.yaml');

/**
 * Creates missing credentials of the local stack.
 *
 * @param generatedWorkers whether workers without a credential have users; undefined = as before
 * @throws Error as ensureCredentials and readPools
 */
export const ensureStackCredentials = (
  dataDir: string,
  pools: string,
  workers: StoresOptions['workers'] = {},
  generatedWorkers?: boolean,
) =>
  ensureCredentials({
    dir: credentialsDir(dataDir),
    pools: readPools(pools),
    natsDir: natsDir(dataDir),
    workers,
    generatedWorkers,
  });

/** Redis and NATS with an identity for the services and one for each worker, unless the caller's environment has URLs. */
export async function planStores({ dataDir, callerEnv, pickPort, workers }: StoresOptions): Promise<StoresPlan> {
  const callerRedis = callerEnv['REDIS_URL'];
  const callerNats = callerEnv['NATS_URL'];
  if (callerRedis && callerNats) {
    const access = { ...redisAccess(callerRedis), ...natsAccess(callerNats), workers: {} };
    return { processes: [], access: () => access, serviceUrls: { redis: callerRedis, nats: callerNats }, ...unmanaged };
  }
  const { identities, files } = ensureStackCredentials(
    dataDir,
    poolsFile(callerEnv),
    workers,
    callerEnv['WORKER_ATTESTATION'] !== 'enforce',
  );
  const pools = lastGoodPools(poolsFile(callerEnv));
  const redis = callerRedis ? undefined : await planRedis(dataDir, pickPort, files.redisAcl, identities);
  const nats = callerNats ? undefined : await planNats(dataDir, pickPort, files.natsConf);
  const addresses = { nats: nats?.address ?? '', redis: redis?.address ?? '' };
  const urls = serviceUrls(identities, addresses);
  return {
    schedulerVariables: {
      ...(nats && { SVC_NATS_WORKERS_FILE: files.natsWorkers }),
      ...(redis && { SVC_REDIS_ACL_URL: urls.redisAcl }),
    },
    natsWorkersFile: nats && files.natsWorkers,
    serviceUrls: { redis: callerRedis || urls.redis, nats: callerNats || urls.nats },
    processes: [redis, nats].flatMap((store) => (store ? [store.process] : [])),
    access() {
      const current = readIdentities(credentialsDir(dataDir), pools());
      const byPool = Object.entries(workerAccess(current, addresses)).map(([pool, entries]) => [
        pool,
        entries.map((entry) => ({
          ...entry,
          ...(callerNats && natsAccess(callerNats)),
          ...(callerRedis && { redis_url: callerRedis }),
        })),
      ]);
      return {
        ...redisAccess(callerRedis || urls.redisAdmin),
        ...natsAccess(callerNats || urls.nats),
        workers: Object.fromEntries(byPool) as Record<string, WorkerAccess[]>,
      };
    },
  };
}

const unmanaged = { schedulerVariables: {}, natsWorkersFile: undefined };

/** Reloads the pools file; while it is invalid, the previous pools are used, as in the services. */
function lastGoodPools(file: string): () => PoolTable {
  let pools = readPools(file);
  return () => {
    try {
      pools = readPools(file);
    } catch {
      // The services report the error.
    }
    return pools;
  };
}

function redisAccess(url: string) {
  const { username, password } = new URL(url);
  return {
    redis_url: url,
    redis_user: decodeURIComponent(username),
    redis_password: decodeURIComponent(password),
  };
}

function natsAccess(url: string) {
  const { credentials } = parseServerList(url);
  const { user = '', pass = '' } = credentials && 'user' in credentials ? credentials : {};
  return { nats_url: url, nats_user: user, nats_password: pass };
}

interface StorePlan {
  /** host:port */
  address: string;
  process: ProcessPlan;
}

/** Redis that persists every acknowledged write, and rejects writes rather than evicting keys. */
async function planRedis(
  dataDir: string,
  pickPort: PickPort,
  aclFile: string,
  { redisHealthPassword }: StoreIdentities,
): Promise<StorePlan> {
  const dir = join(dataDir, 'redis');
  mkdirSync(dir, { recursive: true, mode: 0o700 });
  const port = await pickPort(6379);
  const listen = ['--bind', '127.0.0.1', '--port', String(port), '--aclfile', aclFile];
  return {
    address: `127.0.0.1:${port}`,
    process: {
      name: 'redis',
      command: requireProgram('redis-server'),
      args: [...listen, '--dir', dir, '--daemonize', 'no', ...durable],
      cwd: dir,
      env: process.env,
      isReady: () => pong(port, redisHealthPassword),
    },
  };
}

const durable = [
  ...['--appendonly', 'yes', '--appendfsync', 'always', '--save', '', '--auto-aof-rewrite-min-size', '256mb'],
  // Admission control needs a limit to compare with.
  ...['--maxmemory-policy', 'noeviction', '--maxmemory', '2gb', '--loglevel', 'warning'],
];

/** JetStream is enabled in the configuration file, so that a reload does not disable it. */
async function planNats(dataDir: string, pickPort: PickPort, confFile: string): Promise<StorePlan> {
  const dir = natsDir(dataDir);
  mkdirSync(dir, { recursive: true, mode: 0o700 });
  const port = await pickPort(4222);
  const monitorPort = await pickPort(8222);
  return {
    address: `127.0.0.1:${port}`,
    process: {
      name: 'nats',
      command: requireProgram('nats-server'),
      args: ['-c', confFile, '-a', '127.0.0.1', '-p', String(port), '-m', String(monitorPort)],
      cwd: dir,
      env: process.env,
      isReady: () => answersOk(`http://127.0.0.1:${monitorPort}/healthz`),
    },
  };
}

/** While Redis loads its data it accepts connections, authenticates, and returns errors for commands. */
const pong = (port: number, password: string) =>
  new Promise<boolean>((resolve) => {
    let answer = '';
    const socket = connect(port, '127.0.0.1', () => socket.write(`AUTH ${healthUser} ${password}\r\nPING\r\n`));
    socket.setTimeout(2_000, () => socket.destroy());
    socket.on('data', (data) => {
      answer += data.toString();
      if (answer.split('\r\n').length > 2) socket.destroy();
    });
    socket.once('error', () => resolve(false)).once('close', () => resolve(answer.startsWith('+OK\r\n+PONG')));
  });
