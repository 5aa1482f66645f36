import { subjects } from '@svc/contract';
import { sessionTokensFrom } from '@svc/identity';
import { type Platform, startLoops, whenAvailable } from '@svc/platform';
import type { ApiEnv, Boot } from '@svc/runtime';
import { EffectiveConfig } from '@svc/settings';
import { type RefusedWorker, WorkerTrust } from './worker-trust';
import { WorkerTrustRepository } from './worker-trust.repository';

type TrustEnv = Pick<
  ApiEnv,
  | 'workerAttestation'
  | 'packetSignatures'
  | 'sdkHandshake'
  | 'heartbeatMode'
  | 'packetSigningKey'
  | 'packetSigningKeyPath'
  | 'defaultTenant'
>;

const SYNC_EVERY_MS = 500;

/**
 * Opens the credentials of workers and keeps them up to date.
 *
 * @param onRefused counts refused packets; a process that only follows workers leaves this to the scheduler
 */
export async function openWorkerTrust(
  boot: Pick<Boot<TrustEnv>, 'env' | 'clock' | 'log' | 'onStop' | 'stopping'> & Parameters<typeof whenAvailable>[0],
  { store, bus }: Pick<Platform, 'store' | 'bus'>,
  onRefused: (refused: RefusedWorker) => void = () => undefined,
): Promise<WorkerTrust> {
  const { env, clock, log, onStop } = boot;
  const config = new EffectiveConfig(store, clock);
  const failed = (error: unknown) =>
    log
      .oncePer('worker-trust', 10_000)
      .warn('reading worker credentials failed; the last ones stay in effect', { error });
  const trust = new WorkerTrust({
    trust: new WorkerTrustRepository(store.redis),
    config,
    attestation: env.workerAttestation,
    signatures: env.packetSignatures,
    handshakes: env.sdkHandshake,
    heartbeats: env.heartbeatMode,
    sessionTokens: sessionTokensFrom(env),
    clock,
    defaultTenant: env.defaultTenant,
    onRefused,
    onError: (error) => log.oncePer('worker-token', 10_000).warn('verifying a worker token failed', { error }),
  });
  bus.subscribe(subjects.configChanged, async () => {
    config.changed();
    await trust.sync().catch(failed);
  });
  await whenAvailable(boot, 'store', () => trust.sync());
  const sync = { name: 'worker-trust', everyMs: SYNC_EVERY_MS, run: () => trust.sync() };
  onStop(
    'worker-trust',
    startLoops([sync], (_, error) => failed(error)),
  );
  return trust;
}
