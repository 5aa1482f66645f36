import { isSignedBy, type PacketSigner } from '@svc/bus';
import {
  capabilityKeyPattern,
  ComponentRole,
  decodeTrustPacket,
  encodeChallenge,
  encodeTrustPacket,
  handshakeAudience,
  handshakeNonceBytes,
  handshakeSkewMs,
  HandshakePurpose,
  HandshakeRejection as Rejection,
  type HandshakeStep,
  handshakeTranscript,
  ProofAlgorithm,
  shorten,
  type TrustPacket,
} from '@svc/contract';
import type { SessionTokens } from '@svc/identity';
import { randomBytes, randomUUID } from 'node:crypto';
import { HandshakeRate } from './handshake-rate';
import { SESSION_SKEW_MS } from './sessions';
import type { WorkerTrust } from './worker-trust';
import { CHALLENGE_MS, type WorkerTrustRepository } from './worker-trust.repository';

export interface HandshakeDeps {
  trust: WorkerTrustRepository;
  workers: Pick<WorkerTrust, 'find' | 'sessions' | 'sync'>;
  signer: PacketSigner;
  tokens: SessionTokens;
  clock: { nowMs(): number };
  senderId: string;
  /** SVC_HANDSHAKE_DOMAIN_PREFIX */
  domainPrefix: string;
  onHandshake(outcome: string): void;
  /** A step failed for a reason that is not the worker's. */
  onError(error: unknown): void;
}

type Proof = 'CHALLENGE-REQUEST' | 'AUTHENTICATE';

/** A refused step. Only the reason is sent, which does not distinguish an unknown worker from a wrong key. */
class Refused extends Error {
  constructor(readonly reason: Rejection) {
    super(Rejection[reason]);
  }
}

/** A step over the limits. It gets no answer, which would cost a signature; its sender tries again after a time-out. */
class Limited extends Error {}

const SESSION_MS = 3_600_000;
const MAX_ID_CHARS = 128;
const MAX_CAPABILITIES = 100;
const version = 1;

/**
 * Answers the trust handshake, in which a worker proves that it has a key of its credential, and gets a session token. Safe to
 * run on several replicas: a challenge is in Redis and is used once, and a worker has one. See
 * docs/reference/worker-protocol.md#sessions.
 */
export class HandshakeService {
  private readonly rate: HandshakeRate;

  constructor(private readonly deps: HandshakeDeps) {
    this.rate = new HandshakeRate(deps.clock);
  }

  /** The first step: returns a challenge, or a refusal. Nothing for bytes that are no request. */
  challenge(bytes: Uint8Array): Promise<Uint8Array | undefined> {
    return this.answer(bytes, async (packet) => {
      const request = packet.worker_handshake_challenge_request;
      if (!request) throw new Refused(Rejection.WORKER_HANDSHAKE_REJECTION_REASON_INVALID_REQUEST);
      const { worker_id: id, purpose, request_id, trace_id, proof_key_id, client_nonce, sdk_version } = request;
      requireThat(request.protocol_version === version, 'UNSUPPORTED_VERSION');
      requireThat(
        id === packet.sender_id &&
          trace_id === packet.trace_id &&
          isShortId(request_id) &&
          isShortId(trace_id) &&
          sdk_version.length <= MAX_ID_CHARS &&
          request.audience === handshakeAudience &&
          client_nonce.length === handshakeNonceBytes &&
          request.proof_algorithm === ProofAlgorithm.WORKER_HANDSHAKE_PROOF_ALGORITHM_ECDSA_P256_SHA256 &&
          (purpose === HandshakePurpose.WORKER_HANDSHAKE_PURPOSE_ISSUE ||
            purpose === HandshakePurpose.WORKER_HANDSHAKE_PURPOSE_RENEW),
        'INVALID_REQUEST',
      );
      const known = this.requireProof(packet, 'CHALLENGE-REQUEST', proof_key_id);
      await this.requireToken(packet, purpose);
      const nowMs = this.deps.clock.nowMs();
      const challenge = {
        ...{ request_id, trace_id, worker_id: id, proof_key_id, purpose, client_nonce, sdk_version },
        challenge_id: randomUUID(),
        agent_id: known.credential.agent_id ?? '',
        tenant_id: known.credential.tenant_id,
        proof_algorithm: request.proof_algorithm,
        server_key_id: this.deps.signer.keyId,
        audience: handshakeAudience,
        server_nonce: randomBytes(handshakeNonceBytes),
        protocol_version: version,
        issued_at: toTimestamp(nowMs),
        expires_at: toTimestamp(nowMs + CHALLENGE_MS),
      };
      const outcome = await this.deps.trust.openChallenge({
        workerId: id,
        nonce: Buffer.from(client_nonce).toString('base64'),
        id: challenge.challenge_id,
        text: toStoredText(challenge),
      });
      if (outcome === 'limited') throw new Limited();
      requireThat(outcome === 'opened', 'REPLAY_DETECTED');
      return this.seal('CHALLENGE', trace_id, { worker_handshake_challenge: challenge });
    });
  }

  /** The second step: returns the session token, or a refusal. */
  authenticate(bytes: Uint8Array): Promise<Uint8Array | undefined> {
    return this.answer(bytes, async (packet) => {
      const { challenge, capability_handshake: shake } = packet.worker_handshake_authenticate ?? {};
      if (!challenge || !shake) throw new Refused(Rejection.WORKER_HANDSHAKE_REJECTION_REASON_INVALID_REQUEST);
      const { worker_id: id, trace_id, purpose } = challenge;
      requireThat(
        id === packet.sender_id &&
          shake.component_id === id &&
          trace_id === packet.trace_id &&
          shake.role === ComponentRole.COMPONENT_ROLE_WORKER &&
          shake.supported_versions.includes(version) &&
          Object.keys(shake.capabilities).length <= MAX_CAPABILITIES &&
          Object.entries(shake.capabilities).every(([name, value]) => capabilityKeyPattern.test(name) && value),
        'INVALID_REQUEST',
      );
      // Before the challenge is used up, so that only the worker itself can do that.
      const known = this.requireProof(packet, 'AUTHENTICATE', challenge.proof_key_id);
      const renewed = await this.requireToken(packet, purpose);
      const taken = await this.deps.trust.takeChallenge(id, challenge.challenge_id, toStoredText(challenge));
      const nowMs = this.deps.clock.nowMs();
      const isExpired = fromTimestamp(challenge.expires_at) < nowMs;
      requireThat(taken !== 'missing', isExpired ? 'CHALLENGE_EXPIRED' : 'REPLAY_DETECTED');
      requireThat(taken === 'taken', 'AUTHENTICATION_FAILED');
      requireThat(!isExpired, 'CHALLENGE_EXPIRED');
      const claims = {
        sub: id,
        tenant: known.credential.tenant_id,
        sdk_ver: challenge.sdk_version,
        jti: randomUUID(),
        iat: Math.floor(nowMs / 1_000),
        exp: Math.floor((nowMs + SESSION_MS) / 1_000),
      };
      const issued = await this.deps.trust.issueSession({
        ...{ workerId: id, jti: claims.jti, expiresAtMs: claims.exp * 1_000, nowMs, renewed },
        previousUntilMs: nowMs + SESSION_SKEW_MS,
        capabilities: Object.keys(shake.capabilities).sort(),
      });
      requireThat(issued, renewed === undefined ? 'AUTHENTICATION_FAILED' : 'SESSION_INVALID');
      // After a crash here the worker gets no token, and asks again. Other replicas read the session when they see its token.
      this.deps.onHandshake(purpose === HandshakePurpose.WORKER_HANDSHAKE_PURPOSE_RENEW ? 'renewed' : 'issued');
      const result = {
        challenge,
        accepted: true,
        token_expires_at: toTimestamp(claims.exp * 1_000),
        issued_at: toTimestamp(nowMs),
      };
      return this.seal('RESULT', trace_id, { worker_handshake_result: result }, this.deps.tokens.issue(claims));
    });
  }

  private async answer(
    bytes: Uint8Array,
    handle: (packet: TrustPacket) => Promise<Uint8Array>,
  ): Promise<Uint8Array | undefined> {
    const packet = decodeTrustPacket(bytes);
    // A packet that cannot be read gets no answer: its sender is unknown.
    if (!packet) {
      this.deps.onHandshake('unreadable');
      return undefined;
    }
    try {
      if (!this.rate.allows(this.deps.workers.find(packet.sender_id) ? packet.sender_id : '')) throw new Limited();
      requireThat(packet.protocol_version === version, 'UNSUPPORTED_VERSION');
      const skewMs = Math.abs(fromTimestamp(packet.created_at) - this.deps.clock.nowMs());
      requireThat(skewMs <= handshakeSkewMs, 'CLOCK_SKEW');
      return await handle(packet);
    } catch (error) {
      if (error instanceof Limited) {
        this.deps.onHandshake('limited');
        return undefined;
      }
      if (!(error instanceof Refused)) this.deps.onError(error);
      const reason =
        error instanceof Refused ? error.reason : Rejection.WORKER_HANDSHAKE_REJECTION_REASON_INTERNAL_ERROR;
      this.deps.onHandshake(Rejection[reason].replace('WORKER_HANDSHAKE_REJECTION_REASON_', '').toLowerCase());
      const rejected = { accepted: false, rejection_reason: reason, issued_at: toTimestamp(this.deps.clock.nowMs()) };
      return this.seal('RESULT', shorten(packet.trace_id, MAX_ID_CHARS), { worker_handshake_result: rejected });
    }
  }

  private requireProof(packet: TrustPacket, step: Proof, keyId: string) {
    const known = this.deps.workers.find(packet.sender_id);
    const key = known?.keys.find(({ id }) => id === keyId);
    const transcript = handshakeTranscript(this.deps.domainPrefix, step, packet);
    const isProven = key !== undefined && isSignedBy(transcript, packet.signature, key.key);
    if (!known || !isProven) throw new Refused(Rejection.WORKER_HANDSHAKE_REJECTION_REASON_AUTHENTICATION_FAILED);
    return known;
  }

  /** A renewal presents the current token, and never falls back to a new session. @returns id of the renewed token */
  private async requireToken(
    { auth_token: token, sender_id: id }: TrustPacket,
    purpose: number,
  ): Promise<string | undefined> {
    if (purpose === HandshakePurpose.WORKER_HANDSHAKE_PURPOSE_ISSUE) {
      requireThat(token === '', 'INVALID_REQUEST');
      return undefined;
    }
    const { workers } = this.deps;
    const before = workers.find(id);
    // Another replica may have issued it a moment ago.
    if (before && workers.sessions?.isNewer(before, token)) await workers.sync();
    const known = workers.find(id);
    if (token === '' || !known?.session)
      throw new Refused(Rejection.WORKER_HANDSHAKE_REJECTION_REASON_SESSION_REQUIRED);
    const outcome = workers.sessions?.findRefusal(known, token);
    if (!outcome || 'refusal' in outcome)
      throw new Refused(Rejection.WORKER_HANDSHAKE_REJECTION_REASON_SESSION_INVALID);
    return outcome.claims.jti;
  }

  private seal(step: HandshakeStep, trace_id: string, payload: object, auth_token = ''): Uint8Array {
    const { signer, senderId, clock, domainPrefix } = this.deps;
    const packet = {
      ...{ trace_id, sender_id: senderId, created_at: toTimestamp(clock.nowMs()), protocol_version: version },
      ...(auth_token && { auth_token }),
      ...payload,
    };
    return encodeTrustPacket({ ...packet, signature: signer.sign(handshakeTranscript(domainPrefix, step, packet)) });
  }
}

type Reason = keyof typeof Rejection extends `WORKER_HANDSHAKE_REJECTION_REASON_${infer Name}` ? Name : never;

function requireThat(condition: boolean, reason: Reason): asserts condition {
  if (!condition) throw new Refused(Rejection[`WORKER_HANDSHAKE_REJECTION_REASON_${reason}`]);
}

/** A challenge as it is stored. */
const toStoredText = (challenge: object): string => Buffer.from(encodeChallenge(challenge)).toString('base64');

const isShortId = (text: string): boolean => text !== '' && text.length <= MAX_ID_CHARS;

const toTimestamp = (ms: number) => ({ seconds: Math.floor(ms / 1_000), nanos: (ms % 1_000) * 1_000_000 });

const fromTimestamp = (at: TrustPacket['created_at']): number =>
  at ? Number(at.seconds ?? 0) * 1_000 + Math.floor((at.nanos ?? 0) / 1_000_000) : 0;
