import { handshakeResultPacket, HandshakeRejection, workerJobsSubject } from '@svc/contract';
import type { Platform } from '@svc/platform';
import type { Boot } from '@svc/runtime';
import type { WorkerTrust } from './worker-trust';

/**
 * Notifies workers, on their own subject, of sessions that have ended, so that they prove their key again at once instead of
 * at the next renewal. The notice names the session; a worker ignores one about another. Every scheduler publishes it, and
 * the bus drops the repeats. A lost notice is published again when a packet with that session is refused.
 */
export function publishSessionEnds(
  { clock, log }: Pick<Boot<object>, 'clock' | 'log'>,
  { bus, senderId }: Pick<Platform, 'bus' | 'senderId'>,
  workers: WorkerTrust,
): void {
  workers.onSessionEnded((workerId, sessionId) => {
    const nowMs = clock.nowMs();
    const packet = handshakeResultPacket(
      { trace_id: sessionId, sender_id: senderId, nowUs: nowMs * 1_000 },
      {
        accepted: false,
        rejection_reason: HandshakeRejection.WORKER_HANDSHAKE_REJECTION_REASON_SESSION_INVALID,
        issued_at: { seconds: Math.floor(nowMs / 1_000), nanos: (nowMs % 1_000) * 1_000_000 },
      },
    );
    const msgId = `session-end:${sessionId}`;
    void bus.publishDurable(workerJobsSubject(workerId), packet, { msgId }).catch((error: unknown) =>
      log.oncePer('session-end', 10_000).warn('notifying a worker of the end of its session failed', {
        worker_id: workerId,
        error,
      }),
    );
  });
}
