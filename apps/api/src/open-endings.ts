import type { ApiEnv, Boot } from '@svc/runtime';
import { JobEndings, redisOptions } from '@svc/store';
import { Redis } from 'ioredis';

/** Hears of jobs that end, on a connection of its own. */
export async function openEndings({ env, log, onStop }: Pick<Boot<ApiEnv>, 'env' | 'log' | 'onStop'>) {
  const listener = new Redis({ ...(await redisOptions(env, 'worker')), autoResubscribe: false });
  listener.on('error', (error) =>
    log.oncePer('endings', 10_000).warn('cannot hear of jobs that end', { error: error.message }),
  );
  const endings = new JobEndings(listener);
  onStop('endings', () => endings.close());
  await endings.open();
  return endings;
}
