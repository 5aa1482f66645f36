import { alertPacket, subjects } from '@svc/contract';
import { CredentialChanges } from '@svc/identity';
import type { Platform } from '@svc/platform';
import type { Boot } from '@svc/runtime';

/** Notices of credentials that were revoked or changed, so that streams which are open with them end. */
export interface CredentialNotices {
  /** The open streams of this gateway. */
  changes: CredentialChanges;
  /**
   * Lets every gateway check the streams of a credential. Call it after the change is stored: a lost notice only delays the
   * end of a stream until its regular check.
   *
   * @param id see `CredentialRef`
   */
  announce(id: string): void;
}

/** Opens the notices to and from the other gateways. */
export function openCredentialNotices(
  { clock, log }: Pick<Boot<unknown>, 'clock' | 'log'>,
  { bus, senderId }: Pick<Platform, 'bus' | 'senderId'>,
): CredentialNotices {
  const changes = new CredentialChanges(() => clock.nowMs());
  bus.subscribe(subjects.credentialChanged, ({ packet }) => changes.changed(packet.body.details['id'] ?? ''));
  return {
    changes,
    announce(id) {
      changes.changed(id);
      const head = { trace_id: '', sender_id: senderId, nowUs: clock.nowUs() };
      const notice = alertPacket(head, { severity: 'info', message: 'credential changed', details: { id } });
      try {
        bus.publish(subjects.credentialChanged.name, notice);
      } catch (error) {
        log.warn('notice of a changed credential not published', { error });
      }
    },
  };
}
