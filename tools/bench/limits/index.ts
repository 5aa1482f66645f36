import { bullmqAdd, bullmqProcess } from './bullmq';
import { expressPost, expressPostBullmqAdd } from './express';
import { jetstreamPublish } from './jetstream';
import { redisScript } from './redis-script';
import type { LimitServers } from './servers';

export { startLimitServers, stopLimitServers, type LimitServers } from './servers';

/** Ceilings of Redis, NATS and Express on this machine, each in operations per second. */
export const limits = {
  redis_script: redisScript,
  bullmq_add: bullmqAdd,
  bullmq_process: bullmqProcess,
  jetstream_publish: jetstreamPublish,
  express_post: expressPost,
  express_post_bullmq_add: expressPostBullmqAdd,
} as const satisfies Record<string, (servers: LimitServers) => Promise<number>>;

export type LimitName = keyof typeof limits;
export const limitNames = Object.keys(limits) as LimitName[]; // the keys of that very object
