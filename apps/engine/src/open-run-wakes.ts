import { startLoops } from '@svc/platform';
import type { Boot, EngineEnv } from '@svc/runtime';
import { redisOptions, RunWakes } from '@svc/store';
import { WokenRuns } from '@svc/workflows';
import { Redis } from 'ioredis';
import type { EngineContext } from './context';

const announceEveryMs = 5_000;

/** Subscribes to woken runs, on a separate connection, and takes their turns. */
export async function openRunWakes(
  { env, log, onStop }: Pick<Boot<EngineEnv>, 'env' | 'log' | 'onStop'>,
  ctx: EngineContext,
) {
  const onError = (error: unknown) =>
    log
      .oncePer('run-wakes', 10_000)
      .warn('subscription to woken runs failed; their queue entries are processed', { error });
  const listener = new Redis({ ...(await redisOptions(env, 'worker')), autoResubscribe: false });
  listener.on('error', onError);
  const runs = new WokenRuns(ctx, (run_id, error) =>
    log.oncePer('turn', 10_000).warn('a turn of a run failed; its queue entry is processed', { run_id, error }),
  );
  const wakes = new RunWakes(ctx.store.redis, listener, env.instanceId, (wake) => runs.add(wake));
  onStop('run-wakes', async () => {
    await wakes.close();
    await runs.close();
  });
  await wakes.open();
  const announce = { name: 'run-wakes', everyMs: announceEveryMs, atStart: true, run: () => wakes.announce() };
  onStop(
    'announcements',
    startLoops([announce], (_, error) => onError(error)),
  );
}
