import {
  alertPacket,
  encodePacket,
  shorten,
  subjects,
  WireErrorCode,
  type PayloadKind,
  type Refusal,
} from '@svc/contract';
import type { Delivery } from './delivery';

/**
 * A rejected packet and its origin, without its body.
 * See docs/reference/worker-protocol.md#packets.
 */
export interface RefusedPacket extends Refusal {
  subject: string;
  streamSeq?: number;
}

const alertsPerSecond = 20;

/**
 * Reports rejected packets: all to the counter, and at most 20 per second on `sys.alert`, so that a flood of invalid
 * packets does not cause a flood of alerts.
 */
export class RefusalReports {
  private second = 0;
  private sent = 0;

  constructor(
    private readonly senderId: string,
    private readonly nowUs: () => number,
    private readonly publish: (subject: string, bytes: Uint8Array) => void,
    private readonly onRefused: (packet: RefusedPacket) => void,
  ) {}

  report({ subject, streamSeq }: Delivery, refusal: Refusal): void {
    const { code } = refusal;
    // An alert must fit in a message itself.
    const [reason, sender_id] = [shorten(refusal.reason), shorten(refusal.sender_id)];
    const trace_id = shorten(refusal.trace_id);
    const seq = streamSeq === undefined ? {} : { streamSeq };
    this.onRefused({ code, reason, sender_id, trace_id, subject, ...seq });
    if (!this.mayAlert()) return;
    const head = { trace_id, sender_id: this.senderId, nowUs: this.nowUs() };
    const alert = alertPacket(head, {
      severity: code === WireErrorCode.ERROR_CODE_UNKNOWN_PAYLOAD ? 'warning' : 'error',
      message: `packet refused: ${reason}`,
      code,
      details: { subject, sender_id, stream_seq: String(streamSeq ?? '') },
    });
    this.publish(subjects.alert.name, encodePacket(alert));
  }

  private mayAlert(): boolean {
    const second = Math.floor(this.nowUs() / 1e6);
    if (second !== this.second) {
      this.second = second;
      this.sent = 0;
    }
    this.sent += 1;
    return this.sent <= alertsPerSecond;
  }
}

/** A packet whose payload does not belong on its subject. */
export const wrongPayload = (
  expected: PayloadKind,
  packet: { kind: string; sender_id: string; trace_id: string },
): Refusal => ({
  code: WireErrorCode.ERROR_CODE_UNKNOWN_PAYLOAD,
  reason: `${packet.kind} where ${expected} belongs`,
  sender_id: packet.sender_id,
  trace_id: packet.trace_id,
});

/** A packet that names another sender than the worker whose connection published it. */
export const wrongSender = (worker: string, packet: { sender_id: string; trace_id: string }): Refusal => ({
  code: WireErrorCode.ERROR_CODE_PERMISSION_DENIED,
  reason: `sender ${packet.sender_id} on the connection of worker ${worker}`,
  sender_id: packet.sender_id,
  trace_id: packet.trace_id,
});
