import type { Boot, commonVariables, EnvOf } from '@svc/runtime';
import { JobEndings, redisOptions } from '@svc/store';
import { Redis } from 'ioredis';

/** Subscribes to ends of jobs, on a separate connection. */
export async function openEndings({
  env,
  log,
  onStop,
}: Pick<Boot<EnvOf<typeof commonVariables>>, 'env' | 'log' | 'onStop'>) {
  const listener = new Redis({ ...(await redisOptions(env, 'worker')), autoResubscribe: false });
  listener.on('error', (error) =>
    log.oncePer('endings', 10_000).warn('subscription to ends of jobs failed', { error: error.message }),
  );
  const endings = new JobEndings(listener);
  onStop('endings', () => endings.close());
  await endings.open();
  return endings;
}
