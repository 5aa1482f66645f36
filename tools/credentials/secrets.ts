import { workerIdPattern } from '@svc/contract';
import type { PoolTable } from '@svc/routing';
import { randomBytes } from 'node:crypto';
import { chmodSync, existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { natsWorkersFile, renderNatsConf, renderRedisAcl, serviceUser, type StoreIdentities } from './render';

/** `secrets.json`: created once, so that credentials survive restarts. Entries of removed pools are kept but unused. */
interface Secrets {
  nats: { services: string };
  /** Without `acl` when an older version wrote it. */
  redis: { services: string; admin: string; health: string; acl?: string };
  pools: Record<string, { redis: string; workers: Record<string, string> }>;
  /** False: generated users of workers are not in effect. */
  generatedWorkers?: boolean;
}

export interface CredentialFiles {
  natsConf: string;
  /** Accounts of workers with a credential, which the scheduler writes. */
  natsWorkers: string;
  redisAcl: string;
  /** The password of the Redis user that can only PING. */
  redisHealth: string;
}

export interface CredentialsPlan {
  /** Folder of the secrets; each store has a subfolder. */
  dir: string;
  pools: PoolTable;
  /** Folder of JetStream, as nats-server sees it. */
  natsDir: string;
  /** Additional workers by pool. */
  workers?: Readonly<Record<string, readonly string[]>>;
  /**
   * Whether workers without a credential have users, those that are generated. Default: as in the last call. Their secrets
   * are kept.
   */
  generatedWorkers?: boolean | undefined;
  /** Mode of the store files. Default 0600; a store that runs as another user needs read access. */
  storeFilesMode?: number;
}

export interface Credentials {
  identities: StoreIdentities;
  files: CredentialFiles;
}

const workersPerPool = 2;
/** Starts with a letter, because the JavaScript NATS client parses a digit after the first colon of a URL as a port. */
const newSecret = () => `s${randomBytes(32).toString('base64url')}`;
const secretsFile = (dir: string) => join(dir, 'secrets.json');

/**
 * Creates missing credentials, and writes the configuration of both stores.
 *
 * @throws Error when a worker id cannot be used or belongs to another pool, or a pool is not in the pools file
 */
export function ensureCredentials(plan: CredentialsPlan): Credentials {
  const { dir, pools, natsDir, workers = {}, storeFilesMode = 0o600 } = plan;
  const secrets = readSecrets(dir);
  secrets.generatedWorkers = plan.generatedWorkers ?? secrets.generatedWorkers ?? true;
  for (const pool of Object.keys(pools.pools)) addPool(secrets, pool);
  for (const [pool, ids] of Object.entries(workers)) for (const id of ids) addWorker(secrets, pools, pool, id);
  const identities = toIdentities(secrets, pools);
  const files = {
    natsConf: join(dir, 'nats', 'nats.conf'),
    natsWorkers: join(dir, 'nats', natsWorkersFile),
    redisAcl: join(dir, 'redis', 'users.acl'),
    redisHealth: join(dir, 'redis', 'health'),
  };
  replaceFile(secretsFile(dir), `${JSON.stringify(secrets, null, 2)}\n`, 0o600);
  // NATS does not start without the files that its configuration includes.
  if (!existsSync(files.natsWorkers)) replaceFile(files.natsWorkers, '', storeFilesMode);
  replaceFile(files.natsConf, renderNatsConf(identities, natsDir), storeFilesMode);
  replaceFile(files.redisAcl, renderRedisAcl(identities), storeFilesMode);
  replaceFile(files.redisHealth, identities.redisHealthPassword, storeFilesMode);
  return { identities, files };
}

/** The credentials in a folder, of pools that are in the pools file. */
export const readIdentities = (dir: string, pools: PoolTable): StoreIdentities => toIdentities(readSecrets(dir), pools);

function readSecrets(dir: string): Secrets {
  const file = secretsFile(dir);
  if (existsSync(file)) {
    const secrets = JSON.parse(readFileSync(file, 'utf8')) as Secrets;
    secrets.redis.acl ??= newSecret();
    return secrets;
  }
  return {
    nats: { services: newSecret() },
    redis: { services: newSecret(), admin: newSecret(), health: newSecret(), acl: newSecret() },
    pools: {},
  };
}

const poolWithWorker = ({ pools }: Secrets, id: string) =>
  Object.keys(pools).find((pool) => Object.hasOwn(pools[pool]?.workers ?? {}, id));

function addPool(secrets: Secrets, pool: string): void {
  if (Object.hasOwn(secrets.pools, pool)) return;
  const ids = Array.from({ length: workersPerPool }, (_, i) => `${pool}-${i + 1}`);
  const free = ids.filter((id) => poolWithWorker(secrets, id) === undefined);
  secrets.pools[pool] = { redis: newSecret(), workers: Object.fromEntries(free.map((id) => [id, newSecret()])) };
}

/** A worker id is part of subjects and of a NATS user, so it belongs to one pool. */
function addWorker(secrets: Secrets, { pools }: PoolTable, pool: string, id: string): void {
  if (secrets.generatedWorkers === false)
    throw new Error('workers need a credential where WORKER_ATTESTATION is enforce: POST /api/v1/workers/credentials');
  const held = Object.hasOwn(pools, pool) ? secrets.pools[pool] : undefined;
  if (!held) throw new Error(`no pool ${pool} in the pools file: it has ${Object.keys(pools).join(', ')}`);
  if (!workerIdPattern.test(id) || id === serviceUser)
    throw new Error(`worker id "${id}" cannot be used: 1 to 128 letters, digits, _ and -, and not ${serviceUser}`);
  const owner = poolWithWorker(secrets, id);
  if (owner !== undefined && owner !== pool) throw new Error(`worker ${id} belongs to pool ${owner}`);
  held.workers[id] ??= newSecret();
}

function toIdentities(
  { nats, redis, pools: held, generatedWorkers }: Secrets,
  { pools, topics }: PoolTable,
): StoreIdentities {
  const servedBy = (pool: string) => Object.keys(topics).filter((topic) => topics[topic]?.includes(pool));
  return {
    natsServicePassword: nats.services,
    redisServicePassword: redis.services,
    redisAdminPassword: redis.admin,
    redisHealthPassword: redis.health,
    redisAclPassword: redis.acl ?? '',
    pools: Object.keys(pools).flatMap((name) => {
      const pool = held[name];
      if (!pool || generatedWorkers === false) return [];
      const workers = Object.entries(pool.workers).map(([id, natsPassword]) => ({ id, natsPassword }));
      return [{ name, topics: servedBy(name), redisPassword: pool.redis, workers }];
    }),
  };
}

/** Replaces the file atomically, so that a server never reads a partial file. */
function replaceFile(file: string, text: string, mode: number): void {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  const draft = `${file}.${process.pid}`;
  writeFileSync(draft, text, { mode });
  chmodSync(draft, mode);
  renameSync(draft, file);
}
