import {
  capabilityKeyPattern,
  ComponentRole,
  decodeTrustPacket,
  encodeChallenge,
  encodeTrustPacket,
  handshakeAudience,
  handshakeNonceBytes,
  HandshakePurpose,
  HandshakeRejection,
  handshakeSkewMs,
  type HandshakeStep,
  handshakeTranscript,
  ProofAlgorithm,
  protocolVersion,
  subjects,
  type TrustPacket,
} from '@svc/contract';
import { randomBytes, randomUUID } from 'node:crypto';
import type { NatsConnection } from 'nats';
import type { PacketTrust } from './packet-trust';
import { sdkVersion } from './version';

const timeoutMs = 5_000;
const retryMs = 5_000;
const longestRetryMs = 60_000;
const rejectionPrefix = 'WORKER_HANDSHAKE_REJECTION_REASON_';

export interface SessionDeps {
  id: string;
  domainPrefix: string;
  /** Capabilities of the worker. */
  capabilities: readonly string[];
  connection: NatsConnection;
  trust: PacketTrust;
  onError(error: unknown, where: string): void;
}

/** The token in effect and the time for which it is valid. */
interface Session {
  id: string;
  token: string;
  /** Unix ms. */
  issuedMs: number;
  expiresMs: number;
}

/**
 * Keeps a session: proves the key of this worker at the start, renews the session at half its life, and proves it again when
 * the session is gone. Services are proven as well, so that a forged answer is ignored.
 */
export class SessionKeeper {
  private session: Session | undefined;
  private timer: NodeJS.Timeout | undefined;
  private running: Promise<void> | undefined;
  private isStopped = false;
  private rejections = 0;

  constructor(private readonly deps: SessionDeps) {}

  /** Token of the session, '' without one. */
  get token(): string {
    return this.session && this.session.expiresMs > Date.now() ? this.session.token : '';
  }

  /** Tries to get a session; resolves also when that failed, since the services may not require one. */
  open(): Promise<void> {
    this.running ??= this.refresh().finally(() => (this.running = undefined));
    return this.running;
  }

  /** The services ended a session. @returns whether it was the one in effect; the key must then be proven again */
  end(id: string): boolean {
    if (id === '' || this.session?.id !== id) return false;
    this.session = undefined;
    this.deps.onError(new Error('the services ended the session of this worker: its key is proven again'), 'session');
    return true;
  }

  stop(): void {
    this.isStopped = true;
    clearTimeout(this.timer);
  }

  private async refresh(): Promise<void> {
    clearTimeout(this.timer);
    let waitMs = retryMs;
    const current = this.token;
    try {
      this.session = await this.handshake(current);
      this.rejections = 0;
      waitMs = (this.session.expiresMs - this.session.issuedMs) / 2;
    } catch (error) {
      // A renewal never becomes a new session by itself: the next try proves the key again. It follows at once, since packets
      // without a session may be refused until then.
      if (error instanceof Rejected) {
        this.session = undefined;
        // Its credential may be written again, so it keeps trying.
        waitMs = current === '' ? Math.min(longestRetryMs, retryMs * 2 ** this.rejections++) : 0;
      }
      this.deps.onError(error, 'session handshake');
    }
    if (!this.isStopped) this.timer = setTimeout(() => void this.open(), waitMs);
  }

  private async handshake(current: string): Promise<Session> {
    const { id, trust } = this.deps;
    const [trace_id, request_id, client_nonce] = [randomUUID(), randomUUID(), randomBytes(handshakeNonceBytes)];
    const purpose = current
      ? HandshakePurpose.WORKER_HANDSHAKE_PURPOSE_RENEW
      : HandshakePurpose.WORKER_HANDSHAKE_PURPOSE_ISSUE;
    const request = {
      ...{ request_id, trace_id, worker_id: id, proof_key_id: trust.keyId, audience: handshakeAudience, purpose },
      ...{ client_nonce, protocol_version: protocolVersion, sdk_version: sdkVersion },
      proof_algorithm: ProofAlgorithm.WORKER_HANDSHAKE_PROOF_ALGORITHM_ECDSA_P256_SHA256,
    };
    const asked = { worker_handshake_challenge_request: request };
    const first = await this.ask(subjects.workerChallenge.name, 'CHALLENGE-REQUEST', trace_id, current, asked);
    const challenge = this.verified(first, 'CHALLENGE').worker_handshake_challenge;
    const isOurs =
      challenge?.request_id === request_id &&
      challenge.worker_id === id &&
      Buffer.compare(challenge.client_nonce, client_nonce) === 0;
    if (!challenge || !isOurs) throw new Error('the challenge answers another request');
    const proof = {
      worker_handshake_authenticate: {
        challenge,
        capability_handshake: {
          component_id: id,
          role: ComponentRole.COMPONENT_ROLE_WORKER,
          supported_versions: [protocolVersion],
          capabilities: Object.fromEntries(
            [...declarable(this.deps.capabilities), 'signatures'].map((name) => [name, true]),
          ),
          sdk_version: sdkVersion,
        },
      },
    };
    const second = await this.ask(subjects.workerAuthenticate.name, 'AUTHENTICATE', trace_id, current, proof);
    const reply = this.verified(second, 'RESULT');
    const result = reply.worker_handshake_result;
    const isSame =
      result?.challenge && Buffer.compare(encodeChallenge(result.challenge), encodeChallenge(challenge)) === 0;
    if (!result?.accepted || !isSame || reply.auth_token === '') throw new Error('the services gave no token');
    return {
      id: readSessionId(reply.auth_token),
      token: reply.auth_token,
      issuedMs: Date.now(),
      expiresMs: Date.now() + toMs(result.token_expires_at) - toMs(result.issued_at),
    };
  }

  private async ask(
    subject: string,
    step: HandshakeStep,
    trace_id: string,
    auth_token: string,
    payload: object,
  ): Promise<Uint8Array> {
    const { id, connection, trust, domainPrefix } = this.deps;
    const nowMs = Date.now();
    const packet = {
      ...{ trace_id, sender_id: id, protocol_version: protocolVersion, ...payload },
      created_at: { seconds: Math.floor(nowMs / 1_000), nanos: (nowMs % 1_000) * 1_000_000 },
      ...(auth_token && { auth_token }),
    };
    const signature = trust.sign(handshakeTranscript(domainPrefix, step, packet));
    const reply = await connection.request(subject, encodeTrustPacket({ ...packet, signature }), {
      timeout: timeoutMs,
    });
    return reply.data;
  }

  /** @throws Error when the packet is not a fresh one of the services, or rejects the handshake */
  private verified(bytes: Uint8Array, step: HandshakeStep): TrustPacket {
    const packet = decodeTrustPacket(bytes);
    if (!packet) throw new Error('the answer cannot be read');
    const { domainPrefix, trust } = this.deps;
    const rejection = packet.worker_handshake_result;
    const transcript = handshakeTranscript(domainPrefix, rejection ? 'RESULT' : step, packet);
    if (!trust.isFromServices(transcript, packet.signature)) throw new Error('the services did not sign the answer');
    if (Math.abs(toMs(packet.created_at) - Date.now()) > handshakeSkewMs) throw new Error('the answer is not of now');
    if (rejection && !rejection.accepted) {
      const reason = HandshakeRejection[rejection.rejection_reason]?.replace(rejectionPrefix, '').toLowerCase();
      throw new Rejected(`the services rejected the handshake: ${reason ?? 'unknown reason'}`);
    }
    return packet;
  }
}

class Rejected extends Error {}

/** Capabilities as the handshake takes them; those of another form are part of heartbeats only. */
const declarable = (names: readonly string[]): string[] =>
  names.map((name) => name.trim().toLowerCase()).filter((name) => capabilityKeyPattern.test(name));

/** The id in the claims of a token, which the services verify; '' for a token of another form. */
function readSessionId(token: string): string {
  try {
    const claims = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()) as { jti?: unknown };
    return typeof claims.jti === 'string' ? claims.jti : '';
  } catch {
    return '';
  }
}

const toMs = (at: TrustPacket['created_at']): number =>
  at ? Number(at.seconds ?? 0) * 1_000 + Math.floor((at.nanos ?? 0) / 1_000_000) : 0;
