import type { Boot, SchedulerEnv } from '@svc/runtime';
import { type LaneArrival, LaneArrivals, redisOptions } from '@svc/store';
import { Redis } from 'ioredis';

type ArrivalBoot = Pick<Boot<SchedulerEnv>, 'env' | 'log' | 'onStop'>;

/** Subscribes to new jobs in idle lanes, on a separate connection. */
export async function openLaneArrivals(
  { env, log, onStop }: ArrivalBoot,
  dispatch: (arrival: LaneArrival) => Promise<void>,
): Promise<void> {
  const onError = (error: unknown) =>
    log.oncePer('lane-arrivals', 10_000).warn('subscription to new jobs in lanes failed', { error });
  const listener = new Redis({ ...(await redisOptions(env, 'worker')), autoResubscribe: false });
  listener.on('error', onError);
  // After a failure the next dispatch sweep finds the job.
  const arrivals = new LaneArrivals(listener, (arrival) => void dispatch(arrival).catch(onError));
  onStop('lane-arrivals', () => arrivals.close());
  await arrivals.open();
}
