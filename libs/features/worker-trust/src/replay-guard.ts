import { splitSignature } from '@svc/contract';
import type { AttestedDelivery } from './attestation';
import { SeenPackets } from './seen-packets';
import type { WorkerTrustRepository } from './worker-trust.repository';

/**
 * Detects signed packets that were seen before. Heartbeats and handshakes reach every process, so each remembers its own;
 * progress reports are shared by the schedulers, so these are remembered in Redis. Both memories are bounded for each worker.
 * Results need none: they count once, for the dispatch that they name, and the bus may redeliver them.
 */
export class ReplayGuard {
  private readonly seen: SeenPackets;

  constructor(
    private readonly trust: Pick<WorkerTrustRepository, 'isPacketKnown'>,
    clock: { nowMs(): number },
  ) {
    this.seen = new SeenPackets(clock);
  }

  /** @param delivery with a valid signature */
  isReplay({ packet, bytes }: AttestedDelivery): boolean | Promise<boolean> {
    if (packet.kind === 'job_result') return false;
    const { sender_id: worker, created_at_us: createdUs } = packet;
    const { signature } = splitSignature(bytes) ?? { signature: new Uint8Array() };
    const nonce = getNonce(signature);
    if (packet.kind === 'job_progress')
      return this.trust.isPacketKnown(worker, nonce.toString('base64'), createdUs / 1_000);
    return this.seen.isKnown(worker, nonce.toString('latin1'), createdUs);
  }
}

/**
 * The `r` of an ECDSA signature in DER, which differs for each signature of a key. The signature itself does not identify a
 * packet: anyone can turn a valid (r, s) into another valid one, (r, n - s).
 */
function getNonce(signature: Uint8Array): Buffer {
  const rLength = signature[3] ?? 0;
  return Buffer.from(signature.subarray(4, 4 + rLength));
}
