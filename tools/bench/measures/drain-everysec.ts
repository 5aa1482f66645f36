import type { Session } from '../session';

/** The same when Redis syncs its append-only file once a second instead of at every write. */
export async function drainEverysec(session: Session): Promise<number> {
  const { product } = await session.product();
  await product.redis.config('SET', 'appendfsync', 'everysec');
  try {
    return (await session.drainOnce(product, session.sizes.drain, 'drain, fsync every second')).drainRate;
  } finally {
    await product.redis.config('SET', 'appendfsync', 'always');
  }
}
