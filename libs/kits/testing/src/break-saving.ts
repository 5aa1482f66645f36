import type Redis from 'ioredis';
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { eventually } from './eventually';

/**
 * Makes a local Redis fail to write its snapshot, as a full disk would. While `save` is set, Redis then refuses writes.
 *
 * @returns a function that restores saving
 */
export async function breakSaving(redis: Redis): Promise<() => Promise<void>> {
  const [, dir = ''] = (await redis.call('CONFIG', 'GET', 'dir')) as string[];
  const blockingDir = join(dir, 'dump.rdb');
  const untilSaved = async (status: 'ok' | 'err') => {
    await redis.bgsave();
    await eventually(async () =>
      new RegExp(`rdb_bgsave_in_progress:0[^]*rdb_last_bgsave_status:${status}`).test(await redis.info('persistence')),
    );
  };
  mkdirSync(blockingDir);
  await untilSaved('err');
  return async () => {
    rmSync(blockingDir, { recursive: true });
    await untilSaved('ok');
  };
}
