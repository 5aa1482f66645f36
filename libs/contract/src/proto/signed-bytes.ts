import { canonicalMessage } from './canonical';
import { wire } from './messages';
import { fieldsOf } from './readable';

const SIGNATURE_FIELD = 14;
const LENGTH_DELIMITED = 2;
const signatureTag = SIGNATURE_FIELD * 8 + LENGTH_DELIMITED;

export interface SignedBytes {
  /** The packet as it was sent, without its signature: what the signature covers. */
  signed: Uint8Array;
  /** Empty when the packet is not signed. */
  signature: Uint8Array;
}

/**
 * Separates the signature of a packet from the bytes that it covers. These are the received bytes, so that fields which this
 * version does not know are covered as well. Undefined when the packet is not readable or has several signatures.
 */
export function splitSignature(bytes: Uint8Array): SignedBytes | undefined {
  const kept: Uint8Array[] = [];
  let signature: Uint8Array | undefined;
  try {
    for (const { tag, raw, content } of fieldsOf(bytes)) {
      if (tag >>> 3 !== SIGNATURE_FIELD) {
        kept.push(raw);
        continue;
      }
      if (signature !== undefined || !content) return undefined;
      signature = content;
    }
  } catch {
    return undefined;
  }
  return signature === undefined
    ? { signed: bytes, signature: new Uint8Array() }
    : { signed: Buffer.concat(kept), signature };
}

/** Adds a signature to the bytes of an unsigned packet. */
export function withSignature(bytes: Uint8Array, signature: Uint8Array): Uint8Array {
  // An ECDSA signature has at most 72 bytes, so its length is one byte.
  return Buffer.concat([bytes, Uint8Array.of(signatureTag, signature.length), signature]);
}

/**
 * The deterministic encoding of an encoded packet: fields by number, maps by key. Signers send it, so that verifiers which
 * encode the packet again get the same bytes.
 */
export const canonicalBytes = (bytes: Uint8Array): Uint8Array =>
  wire.BusPacket.encode(canonicalMessage(wire.BusPacket.decode(bytes))).finish();
