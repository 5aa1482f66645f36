import { redisOptions } from '@svc/store';
import { type AlertTrust, openHub, StreamLimits, type OpenHub } from '@svc/streams';
import type { Platform } from '@svc/platform';
import type { ApiEnv, Boot } from '@svc/runtime';
import { Redis } from 'ioredis';
import type { StreamMetrics } from './stream-socket';

export interface Streams extends Pick<OpenHub, 'hub' | 'onHeartbeat'> {
  limits: StreamLimits;
}

/** Opens the source of events of stream clients. It connects with the first of them. */
export async function openStreams(
  { env, log, onStop }: Pick<Boot<ApiEnv>, 'env' | 'log' | 'onStop'>,
  { store, bus, senderId }: Pick<Platform, 'store' | 'bus' | 'senderId'>,
  trust: AlertTrust,
  metrics: StreamMetrics,
): Promise<Streams> {
  const listener = new Redis({ ...(await redisOptions(env, 'worker')), autoResubscribe: false, lazyConnect: true });
  const warn = (error: unknown) => log.oncePer('streams', 10_000).warn('stream events interrupted', { error });
  listener.on('error', warn);
  const { hub, onHeartbeat, close } = openHub({
    redis: store.redis,
    listener,
    bus,
    senderId,
    trust,
    onDropped: (count) => metrics.wsEventsDropped.inc({ reason: 'broadcast_full' }, count),
    onError: warn,
    onResultHidden: () => metrics.wsResultsHidden.inc(),
    onAlertRefused: () => metrics.wsEventsDropped.inc({ reason: 'unattested' }),
  });
  onStop('stream events', close);
  const limits = new StreamLimits({ perTenant: env.streamsPerTenant, perAddress: env.streamsPerAddress });
  return { hub, onHeartbeat, limits };
}
