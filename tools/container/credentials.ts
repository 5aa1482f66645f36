import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setRedisPoolUser } from '../credentials/apply';
import { readWorkerOptions, workerEnvironment } from '../credentials/options';
import { readPools } from '../credentials/pools';
import { serviceUser } from '../credentials/render';
import { ensureCredentials, type Credentials } from '../credentials/secrets';
import { serviceUrls, workerAccess } from '../credentials/worker-access';

const help = `docker compose run --rm credentials [--pool POOL --worker ID] [--json]: credentials of NATS and Redis.

Without options, creates missing credentials; compose runs it before it starts the stores. With a pool and a worker,
adds the worker and prints its variables. NATS accepts the worker after \`docker compose kill -s HUP nats\`.
`;

export interface ContainerOptions {
  args: readonly string[];
  /** Folder of the secrets; each subfolder (services, scheduler, nats, redis) is mounted by the containers that read it. */
  dir: string;
  poolsFile: string;
  /** WORKER_ATTESTATION of the services. */
  attestation: string | undefined;
  /** host:port within the network of compose. */
  nats: string;
  redis: string;
  print(text: string): void;
}

/** @throws Error as ensureCredentials, for options that cannot be used, and when Redis rejects a new pool */
export async function runContainerCredentials(options: ContainerOptions): Promise<void> {
  const { args, dir, poolsFile, print } = options;
  if (args.length === 0) {
    writeAll(options);
    return;
  }
  const wanted = readWorkerOptions([...args]);
  if (!wanted) return print(help);
  const { pool, worker, json } = wanted;
  const { identities } = writeAll(options, { [pool]: [worker] });
  await setRedisPoolUser(serviceUrls(identities, options).redisAdmin, identities, pool);
  const access = workerAccess(identities, options)[pool]?.find(({ worker_id }) => worker_id === worker);
  if (!access) throw new Error(`worker ${worker} was not added to ${dir} with ${poolsFile}`);
  print(`${json ? JSON.stringify({ pool, ...access }) : workerEnvironment(pool, access)}\n`);
}

/** The stores run as other users; only their containers mount these folders. */
const storeFilesMode = 0o644;

function writeAll(
  { dir, poolsFile, attestation, nats, redis }: ContainerOptions,
  workers: Record<string, string[]> = {},
): Credentials {
  const generatedWorkers = attestation !== 'enforce';
  const plan = { dir, pools: readPools(poolsFile), natsDir: '/data', workers, storeFilesMode, generatedWorkers };
  const made = ensureCredentials(plan);
  const { natsServicePassword, redisServicePassword } = made.identities;
  const lines = [
    `NATS_USERNAME=${serviceUser}`,
    `NATS_PASSWORD=${natsServicePassword}`,
    `REDIS_PASSWORD=${redisServicePassword}`,
  ];
  mkdirSync(join(dir, 'services'), { recursive: true, mode: 0o700 });
  writeFileSync(join(dir, 'services', 'services.env'), `${lines.join('\n')}\n`, { mode: 0o600 });
  // The other services do not read it: its user can give itself any permission.
  const { redisAcl } = serviceUrls(made.identities, { nats, redis });
  mkdirSync(join(dir, 'scheduler'), { recursive: true, mode: 0o700 });
  writeFileSync(join(dir, 'scheduler', 'scheduler.env'), `SVC_REDIS_ACL_URL=${redisAcl}\n`, { mode: 0o600 });
  return made;
}
