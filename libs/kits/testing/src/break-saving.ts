import type Redis from 'ioredis';
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { eventually } from './eventually';

/**
 * Makes a Redis of this machine fail to write its snapshot, as a full disk would. While `save` is set it then refuses
 * writes, until what is returned is called.
 */
export async function breakSaving(redis: Redis): Promise<() => Promise<void>> {
  const [, dir = ''] = (await redis.call('CONFIG', 'GET', 'dir')) as string[];
  const inTheWay = join(dir, 'dump.rdb');
  const saved = async (how: 'ok' | 'err') => {
    await redis.bgsave();
    await eventually(async () =>
      new RegExp(`rdb_bgsave_in_progress:0[^]*rdb_last_bgsave_status:${how}`).test(await redis.info('persistence')),
    );
  };
  mkdirSync(inTheWay);
  await saved('err');
  return async () => {
    rmSync(inTheWay, { recursive: true });
    await saved('ok');
  };
}
