import type { ApiEnv, Boot } from '@svc/runtime';
import { JobEndings, openRedis } from '@svc/store';

/** Hears of jobs that end, on a connection of its own. */
export async function openEndings({ env, log, onStop }: Pick<Boot<ApiEnv>, 'env' | 'log' | 'onStop'>) {
  const listener = await openRedis(env, 'worker');
  listener.on('error', (error) =>
    log.oncePer('endings', 10_000).warn('cannot hear of jobs that end', { error: error.message }),
  );
  const endings = new JobEndings(listener);
  onStop('endings', () => endings.close());
  await endings.open();
  return endings;
}
