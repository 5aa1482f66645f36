import { shorten, subjects } from '@svc/contract';
import type { PacketDelivery } from '@svc/bus';
import { licenseLimits, type Platform, startLoops } from '@svc/platform';
import type { ApiEnv, Boot } from '@svc/runtime';
import type { WorkerTrust } from '@svc/worker-trust';
import { registerHeartbeat, renewWorker } from './register-heartbeat';
import { WorkerRegistry } from './worker-registry';

type WorkerTimes = Pick<ApiEnv, 'workerHeartbeatTtlMs' | 'workerReadinessTtlMs'>;

export const openRegistry = (env: WorkerTimes): WorkerRegistry =>
  new WorkerRegistry({ ttlMs: env.workerHeartbeatTtlMs, readinessTtlMs: env.workerReadinessTtlMs });

const expireEveryMs = 5_000;

/**
 * Keeps the registry of live workers up to date from their broadcasts, by the rules of the scheduler, in a process that
 * dispatches new jobs. Jobs of lost workers are the scheduler's concern: here a silent worker is only not selected any more.
 *
 * @param onAdmitted receives the heartbeats that the worker trust admits
 */
export async function followWorkers(
  { clock, log, onStop }: Pick<Boot<WorkerTimes>, 'clock' | 'log' | 'onStop'>,
  { store, bus, license }: Pick<Platform, 'store' | 'bus' | 'license'>,
  registry: WorkerRegistry,
  trust: Pick<WorkerTrust, 'admits' | 'judge' | 'scopeOf'>,
  onAdmitted: (heartbeat: PacketDelivery<'heartbeat'>['packet']) => void = () => undefined,
): Promise<void> {
  const workerRefused = (worker_id: string, reason: string) =>
    log.oncePer(`refused:${worker_id}`, 3_600_000).debug('worker rejected', { worker_id: shorten(worker_id), reason });
  const deps = { registry, store, clock, license: licenseLimits(license), events: { workerRefused } };
  const failed = (error: unknown) =>
    log.oncePer('workers', 10_000).warn('handling a heartbeat failed; the next one is handled', { error });
  registry.busConnected(clock.nowMs());
  registry.restrict((id) => trust.scopeOf(id));
  // The scheduler receives the same packets and reports those that are refused.
  const options = { isReportedElsewhere: true };
  const onHeartbeat = async (delivery: PacketDelivery<'heartbeat'>) => {
    const { packet } = delivery;
    const body = (await trust.admits(delivery)) && trust.judge(packet);
    if (!body) return;
    onAdmitted({ ...packet, body });
    await registerHeartbeat(deps, packet.sender_id, body)
      .then((outcome) => outcome && renewWorker(deps, body))
      .catch(failed);
  };
  const onHandshake = async (delivery: PacketDelivery<'handshake'>) => {
    const { packet } = delivery;
    if (await trust.admits(delivery)) registry.handshake(packet.sender_id, packet.body, clock.nowMs());
  };
  bus.subscribe(subjects.heartbeat, onHeartbeat, options);
  bus.subscribe(subjects.handshake, onHandshake, options);
  const snapshot = await store.workers.snapshot().catch(() => null);
  if (snapshot) registry.warm(snapshot.workers, clock.nowMs());
  const expire = { name: 'workers', everyMs: expireEveryMs, run: async () => void registry.expire(clock.nowMs()) };
  onStop(
    'workers',
    startLoops([expire], (_, error) => failed(error)),
  );
}
