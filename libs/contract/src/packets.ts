import type { svc } from './proto/generated/bus';
import { plainMessage, toInteger } from './proto/plain';
import { wellFormed } from './proto/well-formed';
import { withoutUnreadableFields } from './proto/readable';
import {
  AlertSeverity,
  JobStatus,
  WireErrorCode,
  wire,
  type Draft,
  type IdentityBinding,
  type Message,
  type SignatureMetadata,
} from './proto/messages';

/** Messages of each payload, by its field name in the packet. See docs/reference/worker-protocol.md#packets. */
export interface PayloadDrafts {
  job_request: svc.agent.v1.JobRequest.$Properties;
  job_result: svc.agent.v1.JobResult.$Properties;
  job_progress: svc.agent.v1.JobProgress.$Properties;
  job_cancel: svc.agent.v1.JobCancel.$Properties;
  heartbeat: svc.agent.v1.Heartbeat.$Properties;
  handshake: svc.agent.v1.Handshake.$Properties;
  alert: svc.agent.v1.SystemAlert.$Properties;
  worker_handshake_challenge_request: svc.agent.v1.WorkerHandshakeChallengeRequest.$Properties;
  worker_handshake_challenge: svc.agent.v1.WorkerHandshakeChallenge.$Properties;
  worker_handshake_authenticate: svc.agent.v1.WorkerHandshakeAuthenticate.$Properties;
  worker_handshake_result: svc.agent.v1.WorkerHandshakeResult.$Properties;
}
export type PayloadKind = keyof PayloadDrafts;

export interface PacketHead {
  /** Correlates job, result, progress and alerts; the run's id for workflow traffic. */
  trace_id: string;
  sender_id: string;
  created_at_us: number;
  auth_token: string;
  /** Empty when unsigned. */
  signature: Uint8Array;
  signature_metadata?: SignatureMetadata;
  /** Tenant and principal on whose behalf the packet was sent. */
  identity?: IdentityBinding;
}

/** One packet as code reads it: its head, and one payload as `kind` and `body`. */
export type TypedPacket<K extends PayloadKind> = PacketHead & { kind: K; body: Message<PayloadDrafts[K]> };
export type Packet = { [K in PayloadKind]: TypedPacket<K> }[PayloadKind];

/** Readable parts of a rejected packet, for the alert that reports it. */
export interface Refusal {
  code: WireErrorCode;
  reason: string;
  sender_id: string;
  trace_id: string;
}
export type Decoded =
  | { kind: 'ok'; packet: Packet }
  /** Readable but invalid: acknowledged, counted and reported (101 or 202). */
  | ({ kind: 'invalid'; packet: Packet } & Refusal)
  /** Unreadable (101): redelivered, since a newer process may be able to read it. */
  | ({ kind: 'malformed' } & Refusal)
  /** No payload, or one unknown to this version (102). */
  | ({ kind: 'unknown_payload' } & Refusal)
  /** Another protocol version (100). */
  | ({ kind: 'version' } & Refusal);

/** The only supported protocol version. */
export const protocolVersion = 1;

/** Default maximum payload of NATS; bodies are sent by pointer, so a larger packet is an error or an attack. */
export const maxPacketBytes = 1024 * 1024;

/**
 * Reads one message of the bus. Never throws; unknown fields are ignored, unknown enum values become UNSPECIFIED (an
 * unknown status of a result becomes FAILED).
 */
export function decodePacket(bytes: Uint8Array, maxBytes = maxPacketBytes): Decoded {
  const refused = { sender_id: '', trace_id: '' };
  if (bytes.length > maxBytes) {
    const reason = `${bytes.length} bytes, more than ${maxBytes}`;
    return { ...refused, kind: 'malformed', code: WireErrorCode.ERROR_CODE_MALFORMED_PACKET, reason };
  }
  try {
    return readPacket(decodeRaw(bytes));
  } catch (error) {
    const reason = error instanceof Error ? error.message : 'not a packet';
    return { ...refused, kind: 'malformed', code: WireErrorCode.ERROR_CODE_MALFORMED_PACKET, reason };
  }
}

/** An unreadable optional field is dropped; the packet is kept. @throws Error when the packet itself is unreadable */
function decodeRaw(bytes: Uint8Array): svc.agent.v1.BusPacket {
  try {
    return wire.BusPacket.decode(bytes);
  } catch (error) {
    const readable = withoutUnreadableFields(bytes);
    if (!readable) throw error;
    return wire.BusPacket.decode(readable);
  }
}

function readPacket(raw: svc.agent.v1.BusPacket): Decoded {
  const { sender_id, trace_id } = raw;
  if (raw.protocol_version !== protocolVersion) {
    const reason = `protocol version ${raw.protocol_version}`;
    return { kind: 'version', code: WireErrorCode.ERROR_CODE_PROTOCOL_VERSION_MISMATCH, reason, sender_id, trace_id };
  }
  // The last of several payloads wins, as in proto3.
  const kind = raw.payload;
  if (!kind) {
    const reason = 'no payload that is known';
    return { kind: 'unknown_payload', code: WireErrorCode.ERROR_CODE_UNKNOWN_PAYLOAD, reason, sender_id, trace_id };
  }
  const packet = {
    trace_id,
    sender_id,
    created_at_us: microseconds(raw.created_at),
    auth_token: raw.auth_token,
    signature: Uint8Array.from(raw.signature),
    ...(raw.signature_metadata && { signature_metadata: plainMessage(raw.signature_metadata) }),
    ...(raw.identity && { identity: plainMessage(raw.identity) }),
    kind,
    body: plainMessage(raw[kind] ?? {}),
  } as Packet;
  if (packet.kind === 'job_result' && raw.job_result?.status && !packet.body.status) {
    packet.body.status = JobStatus.JOB_STATUS_FAILED;
  }
  const broken = brokenRule(packet);
  return broken ? { kind: 'invalid', packet, ...broken, sender_id, trace_id } : { kind: 'ok', packet };
}

function microseconds(timestamp: svc.agent.v1.BusPacket['created_at']): number {
  return toInteger(timestamp?.seconds ?? 0) * 1e6 + Math.floor((timestamp?.nanos ?? 0) / 1e3);
}

/** Rules that every consumer checks. */
function brokenRule(packet: Packet): Pick<Refusal, 'code' | 'reason'> | undefined {
  const missing = missingFields(packet);
  if (missing.length > 0) {
    return { code: WireErrorCode.ERROR_CODE_MALFORMED_PACKET, reason: `${packet.kind} without ${missing.join(', ')}` };
  }
  if (packet.kind !== 'job_request') return undefined;
  const { tenant_id, env, meta, identity } = packet.body;
  const others = [env['tenant_id'], meta?.tenant_id, identity?.tenant_id, packet.identity?.tenant_id];
  if (!tenant_id || others.every((other) => !other || other === tenant_id)) return undefined;
  return { code: WireErrorCode.ERROR_CODE_PERMISSION_DENIED, reason: 'tenant_id differs from env, meta or identity' };
}

function missingFields(packet: Packet): string[] {
  switch (packet.kind) {
    case 'job_request':
      return (['job_id', 'topic'] as const).filter((field) => !packet.body[field]);
    case 'job_result':
      return (['job_id', 'worker_id', 'status'] as const).filter((field) => !packet.body[field]);
    case 'job_progress':
    case 'job_cancel':
      return packet.body.job_id ? [] : ['job_id'];
    case 'heartbeat':
      return packet.body.worker_id ? [] : ['worker_id'];
    case 'handshake':
      return packet.body.component_id ? [] : ['component_id'];
    default:
      return [];
  }
}

/** The bytes of a packet; maps in the order they were written. {@link canonicalBytes} is the deterministic form. */
export function encodePacket(packet: Packet): Uint8Array {
  return wire.BusPacket.encode(rawPacket(packet)).finish();
}

/** The packet in the generated shape. */
export function rawPacket(packet: Packet): svc.agent.v1.BusPacket.$Properties {
  const { created_at_us, kind, body, ...head } = packet;
  return { ...head, ...versionAndTime(created_at_us), [kind]: body };
}

function versionAndTime(createdUs: number) {
  const seconds = Math.floor(createdUs / 1e6);
  return {
    created_at: { seconds, nanos: Math.round(createdUs - seconds * 1e6) * 1e3 },
    protocol_version: protocolVersion,
  };
}

export interface NewPacketHead {
  trace_id: string;
  sender_id: string;
  nowUs: number;
  /** Worker session token or, from older workers, the worker credential. */
  auth_token?: string;
}

const bodies = {
  job_request: wire.JobRequest,
  job_result: wire.JobResult,
  job_progress: wire.JobProgress,
  job_cancel: wire.JobCancel,
  heartbeat: wire.Heartbeat,
  handshake: wire.Handshake,
  alert: wire.SystemAlert,
  worker_handshake_result: wire.WorkerHandshakeResult,
};

type Codec = Pick<(typeof bodies)['alert'], 'encode'> & { decode(bytes: Uint8Array): object };

/** JSON allows a lone surrogate and UTF-8 does not: an encoded packet that contained one would be unreadable. */
function throughBytes(codec: Codec, draft: object): object {
  try {
    return codec.decode(codec.encode(draft).finish());
  } catch {
    return codec.decode(codec.encode(wellFormed(draft) as object).finish());
  }
}

const packetBuilder =
  <K extends keyof typeof bodies>(kind: K) =>
  ({ nowUs, auth_token = '', ...head }: NewPacketHead, draft: Draft<PayloadDrafts[K]>): TypedPacket<K> => {
    // Encoded and decoded, so that a packet built here equals the one that its reader decodes.
    const body = plainMessage(throughBytes(bodies[kind], draft));
    return { ...head, created_at_us: nowUs, auth_token, signature: new Uint8Array(), kind, body } as TypedPacket<K>;
  };

export const jobRequestPacket = packetBuilder('job_request');
export const jobResultPacket = packetBuilder('job_result');
export const jobProgressPacket = packetBuilder('job_progress');
export const jobCancelPacket = packetBuilder('job_cancel');
export const heartbeatPacket = packetBuilder('heartbeat');
export const handshakePacket = packetBuilder('handshake');
/** Outside of a handshake: a notice to a worker that a session of it has ended. Its trace id is the id of the session. */
export const handshakeResultPacket = packetBuilder('worker_handshake_result');

const anyAlert = packetBuilder('alert');

/** A packet as bytes, encoded once for a single publish. */
export interface EncodedPacket {
  kind: 'encoded';
  bytes: Uint8Array;
  /** Deduplicates repeated publishes; see `messageId`. */
  messageId: string;
}

const draftEncoder =
  <K extends keyof typeof bodies>(kind: K) =>
  ({ nowUs, auth_token = '', ...head }: NewPacketHead, draft: Draft<PayloadDrafts[K]>): Uint8Array => {
    const encode = (body: object) =>
      wire.BusPacket.encode({ ...head, ...versionAndTime(nowUs), auth_token, [kind]: body }).finish();
    const bytes = encode(draft);
    return mayHoldSurrogates(bytes) ? encode(wellFormed(draft) as object) : bytes;
  };

/** Encodes a dispatch or submission directly from its draft. {@link jobRequestPacket} returns it in its decoded form. */
export const encodeJobRequest = draftEncoder('job_request');
/** Encodes a result directly from its draft. {@link jobResultPacket} returns it in its decoded form. */
export const encodeJobResult = draftEncoder('job_result');

/** Only an encoded surrogate starts with these bytes in a text; elsewhere they may occur by chance. */
function mayHoldSurrogates(bytes: Uint8Array): boolean {
  for (let at = bytes.indexOf(0xed); at >= 0; at = bytes.indexOf(0xed, at + 1)) {
    if ((bytes[at + 1] ?? 0) >= 0xa0) return true;
  }
  return false;
}

export interface AlertDraft {
  severity: 'info' | 'warning' | 'error' | 'critical';
  message: string;
  /** Absent for notices that report no failure. */
  code?: WireErrorCode;
  /** Absent = the sender. */
  component?: string;
  details?: Record<string, string>;
}

/** An alert with both forms of each duplicated field set. See docs/reference/worker-protocol.md#alerts. */
export function alertPacket(
  head: NewPacketHead,
  { severity, message, code, component = head.sender_id, details = {} }: AlertDraft,
): TypedPacket<'alert'> {
  const error_code_enum = code ?? WireErrorCode.ERROR_CODE_UNSPECIFIED;
  return anyAlert(head, {
    level: severity,
    message,
    component,
    code: code === undefined ? '' : (WireErrorCode[code] ?? String(code)),
    severity: AlertSeverity[`ALERT_SEVERITY_${severity.toUpperCase() as Uppercase<typeof severity>}`],
    error_code_enum,
    source_component: component,
    details,
    trace_id: head.trace_id,
  });
}
