import type { svc } from './generated/bus';
import { canonicalMessage } from './canonical';
import { type Message, wire } from './messages';

/** Steps of the trust handshake, each signed under its own domain. See docs/reference/worker-protocol.md#sessions. */
export type HandshakeStep = 'CHALLENGE-REQUEST' | 'CHALLENGE' | 'AUTHENTICATE' | 'RESULT';

/** Read like any packet: scalars have their defaults, messages may be absent. */
export type TrustPacket = Message<svc.agent.v1.BusPacket.$Properties>;
export type ChallengeDraft = svc.agent.v1.WorkerHandshakeChallenge.$Properties;

export const handshakeAudience = 'svc-scheduler';
export const handshakeNonceBytes = 32;
export const maxHandshakeBytes = 65_536;
/** Maximum difference between the clocks of worker and scheduler. */
export const handshakeSkewMs = 60_000;
export const handshakeDomainPrefix = 'SVC';
/** Names of capabilities that a worker declares when it proves its key. */
export const capabilityKeyPattern = /^[a-z][a-z0-9_.-]{0,63}$/;

/** The bytes that the signature of a step covers: its domain, a zero byte, and the packet without signature. */
export function handshakeTranscript(prefix: string, step: HandshakeStep, packet: object): Uint8Array {
  const domain = Buffer.from(`${prefix}-WORKER-HANDSHAKE-${step}-V1\0`, 'ascii');
  return Buffer.concat([domain, encodeTrustPacket({ ...packet, signature: undefined })]);
}

/** The deterministic encoding of a packet of the handshake. */
export const encodeTrustPacket = (packet: object): Uint8Array =>
  wire.BusPacket.encode(canonicalMessage(packet) as svc.agent.v1.BusPacket.$Properties).finish();

export const encodeChallenge = (challenge: object): Uint8Array =>
  wire.WorkerHandshakeChallenge.encode(canonicalMessage(challenge) as ChallengeDraft).finish();

/** Reads a packet of the handshake. Undefined when it is too large, unreadable, or has fields that this version does not know. */
export function decodeTrustPacket(bytes: Uint8Array): TrustPacket | undefined {
  if (bytes.length > maxHandshakeBytes) return undefined;
  try {
    const packet = wire.BusPacket.decode(bytes);
    // Defaults and repeated fields are not encoded again.
    const isMinimal = encodeTrustPacket(packet).length === bytes.length;
    return isMinimal && !hasUnknownFields(packet) ? (packet as unknown as TrustPacket) : undefined;
  } catch {
    return undefined;
  }
}

/** At any depth. The decoder keeps them under this name. */
const hasUnknownFields = (value: unknown): boolean =>
  typeof value === 'object' &&
  value !== null &&
  !(value instanceof Uint8Array) &&
  (Object.hasOwn(value, '$unknowns') || Object.values(value).some(hasUnknownFields));
