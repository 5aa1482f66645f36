import { decodePacket, type TypedPacket, type PayloadKind, type Refusal } from '@svc/contract';
import { ack, nak, term, type Delivery, type Outcome } from './delivery';
import { wrongPayload, wrongSender } from './refusals';

/** `bytes` are those that were received, which a signature covers. */
export type PacketDelivery<K extends PayloadKind> = Delivery & { packet: TypedPacket<K> };

type Report = (delivery: Delivery, refusal: Refusal) => void;

const unreadableDelayMs = 5_000;
const unreadableDeliveries = 3;

/**
 * Adapts a packet handler to bytes. Invalid packets are acknowledged; unreadable ones are redelivered twice, since a newer
 * replica may be able to read them; other versions and payloads are dropped, and packets of a worker in the name of another. All are reported once.
 */
export const packetHandler =
  <K extends PayloadKind>(
    payload: K,
    handler: (delivery: PacketDelivery<K>) => Promise<Outcome>,
    report: Report,
  ): ((delivery: Delivery) => Promise<Outcome>) =>
  async (delivery) => {
    const decoded = decodePacket(delivery.bytes);
    switch (decoded.kind) {
      case 'ok': {
        const { packet } = decoded;
        const isOwn = delivery.connection === undefined || delivery.connection === packet.sender_id;
        if (isOwn && isOf(payload, packet)) return handler({ ...delivery, packet });
        const refusal = isOwn ? wrongPayload(payload, packet) : wrongSender(delivery.connection ?? '', packet);
        report(delivery, refusal);
        return term(refusal.reason);
      }
      case 'invalid':
        report(delivery, decoded);
        return ack;
      case 'malformed':
        if (delivery.streamSeq !== undefined && delivery.deliveries < unreadableDeliveries)
          return nak(unreadableDelayMs);
        report(delivery, decoded);
        return term(decoded.reason);
      case 'version':
      case 'unknown_payload':
        report(delivery, decoded);
        return term(decoded.reason);
    }
  };

const isOf = <K extends PayloadKind>(payload: K, packet: { kind: PayloadKind }): packet is TypedPacket<K> =>
  packet.kind === payload;
