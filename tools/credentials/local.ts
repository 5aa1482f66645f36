import { join } from 'node:path';
import { readRunningInfo, writeInfo } from '../stack/info';
import { ensureStackCredentials, poolsFile } from '../stack/stores';
import { setRedisPoolUser, untilNatsAccepts } from './apply';
import { workerAccess, type WorkerAccess } from './worker-access';

export interface LocalWorker {
  access: WorkerAccess;
  /** Whether a running stack accepts the worker now; otherwise the next start does. */
  isRunning: boolean;
}

const reloadWithinMs = 10_000;

/**
 * Returns the credentials of a worker of a local stack, created on the first call. Resolves when a running NATS and
 * Redis accept them.
 *
 * @throws Error as ensureStackCredentials, or when a running store does not accept the worker
 */
export async function addLocalWorker(
  dataDir: string,
  pool: string,
  workerId: string,
  env: NodeJS.ProcessEnv = process.env,
): Promise<LocalWorker> {
  const infoFile = join(dataDir, 'stack.json');
  const info = readRunningInfo(infoFile);
  const added = { [pool]: [workerId] };
  const { identities } = ensureStackCredentials(dataDir, info?.pools_file ?? poolsFile(env), added);
  const { nats, redis } = info?.pids ?? {};
  const addresses = {
    nats: info && nats !== undefined ? new URL(info.nats_url).host : '',
    redis: info && redis !== undefined ? new URL(info.redis_url).host : '',
  };
  const workers = workerAccess(identities, addresses);
  const access = workers[pool]?.find(({ worker_id }) => worker_id === workerId);
  if (!access) throw new Error(`worker ${workerId} was not added`);
  if (info && redis !== undefined) await setRedisPoolUser(info.redis_url, identities, pool);
  if (info && nats !== undefined) {
    process.kill(nats, 'SIGHUP'); // reloads the configuration of nats-server
    await untilNatsAccepts(access, reloadWithinMs);
  }
  if (info) writeInfo(infoFile, { ...info, workers });
  return { access, isRunning: info !== undefined };
}
