import { alertPacket, type NewPacketHead, shorten, type TypedPacket, WireErrorCode } from '@svc/contract';
import type { SignatureFault } from '@svc/jetstream';

const codes = {
  signature_missing: WireErrorCode.ERROR_CODE_SIGNATURE_MISSING,
  signature_invalid: WireErrorCode.ERROR_CODE_SIGNATURE_INVALID,
} as const satisfies Record<SignatureFault, WireErrorCode>;

export interface ForgedPacket {
  subject: string;
  sender_id: string;
  fault: SignatureFault;
}

/** Reports a packet that services did not sign. See docs/reference/worker-protocol.md#signatures. */
export const forgedAlert = (head: NewPacketHead, { subject, sender_id, fault }: ForgedPacket): TypedPacket<'alert'> =>
  alertPacket(head, {
    severity: 'critical',
    message: `packet refused: ${fault}`,
    code: codes[fault],
    // The sender is not verified, and an alert must fit in a message itself.
    details: { subject, sender_id: shorten(sender_id) },
  });
