import type { PacketSigner } from '@svc/bus';
import { subjects } from '@svc/contract';
import type { SessionTokens } from '@svc/identity';
import type { Platform } from '@svc/platform';
import type { Boot } from '@svc/runtime';
import { HandshakeService } from './handshake';
import { publishSessionEnds } from './session-ends';
import type { WorkerTrust } from './worker-trust';
import { WorkerTrustRepository } from './worker-trust.repository';

export interface HandshakeParts {
  workers: WorkerTrust;
  signer: PacketSigner | undefined;
  tokens: SessionTokens | undefined;
  domainPrefix: string;
  onHandshake(outcome: string): void;
}

/** Answers the trust handshakes of workers, and notifies them when their sessions end, unless sessions are not configured. */
export function serveHandshakes(
  boot: Pick<Boot<object>, 'clock' | 'log' | 'onStop'>,
  platform: Pick<Platform, 'store' | 'bus' | 'senderId'>,
  { workers, signer, tokens, ...rest }: HandshakeParts,
): void {
  if (!signer || !tokens || !workers.sessions) return;
  const { clock, log, onStop } = boot;
  const { store, bus, senderId } = platform;
  const trust = new WorkerTrustRepository(store.redis);
  const onError = (error: unknown) =>
    log.oncePer('worker-handshake', 10_000).warn('a worker handshake failed; the worker tries again', { error });
  const service = new HandshakeService({ trust, workers, signer, tokens, clock, senderId, onError, ...rest });
  publishSessionEnds(boot, platform, workers);
  const served = [
    bus.respond(subjects.workerChallenge.name, 'svc-scheduler', (bytes) => service.challenge(bytes)),
    bus.respond(subjects.workerAuthenticate.name, 'svc-scheduler', (bytes) => service.authenticate(bytes)),
  ];
  onStop('handshakes', () => Promise.all(served.map((one) => one.stop())));
}
