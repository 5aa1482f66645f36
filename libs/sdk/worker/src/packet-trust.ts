import type { Decoded } from '@svc/contract';
import {
  findSignatureFault,
  isSignedBy,
  openPacketKey,
  openPacketSigner,
  type PacketKey,
  type PacketSigner,
  type SignatureFault,
} from '@svc/jetstream';

type Readable = Extract<Decoded, { kind: 'ok' }>['packet'];

/** Keys in PEM; '' and an empty list are none. */
export interface PacketKeys {
  signingKey: string;
  serviceKeys: readonly string[];
}

/** Signs the packets of this worker and verifies those of the services, as far as it has keys for that. */
export class PacketTrust {
  private readonly signer: PacketSigner | undefined;
  private readonly serviceKeys: readonly PacketKey[];

  /** @throws Error when a key is no P-256 key in PEM */
  constructor({ signingKey, serviceKeys }: PacketKeys) {
    this.signer = signingKey === '' ? undefined : openPacketSigner(signingKey);
    this.serviceKeys = serviceKeys.map(openPacketKey);
  }

  get signs(): boolean {
    return this.signer !== undefined;
  }

  /** Whether this worker and the services can prove who they are, as sessions need. */
  get provesBoth(): boolean {
    return this.signs && this.serviceKeys.length > 0;
  }

  get keyId(): string {
    return this.signer?.keyId ?? '';
  }

  sign(bytes: Uint8Array): Uint8Array {
    return this.signer?.sign(bytes) ?? new Uint8Array();
  }

  isFromServices(bytes: Uint8Array, signature: Uint8Array): boolean {
    return this.serviceKeys.some(({ key }) => isSignedBy(bytes, signature, key));
  }

  seal(bytes: Uint8Array): Uint8Array {
    return this.signer?.seal(bytes) ?? bytes;
  }

  /** Fault of a packet that services send; undefined also when this worker has no key to verify it. */
  findFault(bytes: Uint8Array, packet: Readable, nowMs: number): SignatureFault | undefined {
    if (this.serviceKeys.length === 0) return undefined;
    // Packets in a stream may wait for longer than a signature is valid. A repeated dispatch is not run again, and a repeated
    // notice names a session that is not in effect any more.
    const isStored = packet.kind === 'job_request' || packet.kind === 'worker_handshake_result';
    const sentMs = isStored ? nowMs : packet.created_at_us / 1_000;
    return findSignatureFault(bytes, this.serviceKeys, sentMs, nowMs);
  }
}
