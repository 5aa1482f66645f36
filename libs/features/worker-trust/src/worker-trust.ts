import type { Heartbeat, TypedPacket } from '@svc/contract';
import { isSessionToken, type SessionTokens } from '@svc/identity';
import { findSignatureFault, openPacketKey, type PacketKey } from '@svc/bus';
import type { EffectiveConfig } from '@svc/settings';
import { section } from '@svc/settings';
import type { WorkerRecord } from '@svc/store';
import {
  type AttestedDelivery,
  type AttestedPacket,
  findScopeRefusal,
  getToken,
  isFromClaimedWorker,
  isServiceSender,
  type RefusalReason,
  type WorkerScope,
} from './attestation';
import { type HeartbeatMode, judgeHeartbeat } from './heartbeat-mode';
import { ReplayGuard } from './replay-guard';
import { SessionCheck } from './sessions';
import { TokenVerifier, type VerifiableCredential } from './token-verifier';
import type {
  StoredCredential,
  WorkerSession,
  WorkerTrustRecord,
  WorkerTrustRepository,
} from './worker-trust.repository';

export type TrustMode = 'off' | 'warn' | 'enforce';

/** A packet that attestation refuses; under `warn` it is handled nevertheless. */
export interface RefusedWorker {
  kind: AttestedPacket['kind'];
  reason: RefusalReason;
  mode: TrustMode;
  workerId: string;
}

export interface WorkerTrustDeps {
  trust: WorkerTrustRepository;
  config: Pick<EffectiveConfig, 'at'>;
  /** WORKER_ATTESTATION; undefined = the value from config. */
  attestation: TrustMode | undefined;
  /** SVC_PACKET_SIGNATURES */
  signatures: TrustMode;
  /** SVC_SDK_HANDSHAKE; no effect without `sessionTokens`. */
  handshakes: TrustMode;
  sessionTokens: SessionTokens | undefined;
  /** SVC_HEARTBEAT_MODE */
  heartbeats: HeartbeatMode;
  clock: { nowMs(): number };
  defaultTenant: string;
  onRefused(refused: RefusedWorker): void;
  /** Verifying a token failed. */
  onError(error: unknown): void;
}

/** See `WorkerRecord`. */
export type WorkerTrustView = Pick<WorkerRecord, 'attested' | 'tenant' | 'session'>;

interface KnownWorker extends VerifiableCredential {
  credential: StoredCredential;
  scope: WorkerScope;
  keys: readonly PacketKey[];
  session: WorkerSession | undefined;
  isRevoked: boolean;
  /** When a refused packet of it last had a session that has ended, by the monotonic clock. */
  refusedAtMs?: number;
}

type Refusal = RefusalReason | undefined;

/** Reasons that a newer credential or session may remove. */
const outdatedReasons: ReadonlySet<RefusalReason> = new Set([
  'credential_cache_unavailable',
  'credential_invalid',
  'session_invalid',
  'signature_invalid',
  'signature_key_unknown',
]);

const MIN_SYNC_INTERVAL_MS = 20;
/** Between two notices to one worker that follow refused packets. */
const MIN_NOTICE_INTERVAL_MS = 10_000;

const nothing: WorkerScope = { pools: [], topics: [] };

/**
 * The credentials of all workers, in memory, so that checking a packet needs no call of Redis. `sync` applies what changed;
 * it runs twice a second and upon each notice. The last facts stay in effect while Redis is unavailable: a process that
 * cannot read it cannot change a job either. See docs/adr/0024-trust-of-workers.md.
 */
export class WorkerTrust {
  private readonly workers = new Map<string, KnownWorker>();
  private readonly verifier: TokenVerifier;
  private readonly replays: ReplayGuard;
  /** Undefined: sessions are not configured, or their tokens are ignored. */
  readonly sessions: SessionCheck | undefined;
  private readonly revocations: ((workerId: string) => void)[] = [];
  private readonly sessionEnds: ((workerId: string, sessionId: string) => void)[] = [];
  private version = -1;
  private syncedAtMs = -Infinity;
  private current: TrustMode = 'off';
  private running: Promise<void> | undefined;
  private next: Promise<void> | undefined;

  constructor(private readonly deps: WorkerTrustDeps) {
    this.verifier = new TokenVerifier(deps.trust, (error) => deps.onError(error));
    this.replays = new ReplayGuard(deps.trust, deps.clock);
    this.sessions =
      deps.sessionTokens && deps.handshakes !== 'off' ? new SessionCheck(deps.sessionTokens, deps.clock) : undefined;
    // Before the first read every packet is refused, instead of none.
    this.current = deps.attestation ?? 'off';
  }

  get mode(): TrustMode {
    return this.current;
  }

  /** Whether packets of workers are refused that prove too little. */
  get isEnforced(): boolean {
    const { signatures, handshakes } = this.deps;
    const modes = [this.current, signatures, this.sessions ? handshakes : 'off'];
    return modes.includes('enforce');
  }

  /** Calls back for each worker whose credential was revoked while attestation is enforced. */
  onRevoked(listener: (workerId: string) => void): void {
    this.revocations.push(listener);
  }

  /** Calls back for each session that was revoked, and at times for a session that has ended and is still used. */
  onSessionEnded(listener: (workerId: string, sessionId: string) => void): void {
    this.sessionEnds.push(listener);
  }

  /** Applies changes of credentials: one small read. Calls made while it runs share the next one. */
  sync(): Promise<void> {
    if (this.next) return this.next;
    const { running } = this;
    if (!running) {
      this.running = this.readChanges().finally(() => (this.running = undefined));
      return this.running;
    }
    const after = () => {
      this.next = undefined;
      return this.sync();
    };
    this.next = running.then(after, after);
    return this.next;
  }

  /**
   * Whether the packet of a worker may be handled. Refused packets are reported; under `warn` they are handled
   * nevertheless. Synchronous unless a token has to be verified for the first time.
   */
  admits(delivery: AttestedDelivery): boolean | Promise<boolean> {
    const { packet } = delivery;
    const { current: attestation } = this;
    const { signatures } = this.deps;
    if (this.isOff) return true;
    if (packet.kind === 'job_result' && isServiceSender(packet.sender_id)) return true;
    const checks: [TrustMode, () => Refusal | Promise<Refusal>][] = [
      // A session token that is present counts under `warn` too; only a missing one is accepted.
      [this.sessions ? this.deps.handshakes : 'off', () => this.findSessionRefusal(packet)],
      [attestation, () => this.findRefusal(packet)],
      [signatures, () => this.findSignatureRefusal(delivery)],
    ];
    return this.pass(packet, checks);
  }

  /**
   * An admitted heartbeat as it counts, by SVC_HEARTBEAT_MODE; undefined when it does not. Differences from the credential and
   * the session of its worker are reported.
   */
  judge({ kind, sender_id: id, body }: TypedPacket<'heartbeat'>): Heartbeat | undefined {
    const { heartbeats: mode, clock } = this.deps;
    const { beat, differences } = judgeHeartbeat(body, this.find(id), mode, clock.nowMs());
    for (const reason of differences)
      this.deps.onRefused({ kind, reason, mode: mode === 'telemetry' ? 'enforce' : 'warn', workerId: id });
    return beat;
  }

  /** The valid credential of a worker with what is known of its session and keys. */
  find(workerId: string): Pick<KnownWorker, 'credential' | 'keys' | 'scope' | 'session'> | undefined {
    const known = this.workers.get(workerId);
    return known?.isRevoked === false ? known : undefined;
  }

  /** What a worker may do; undefined while attestation is not enforced, and then everything. */
  scopeOf(workerId: string): WorkerScope | undefined {
    if (this.current !== 'enforce') return undefined;
    const known = this.workers.get(workerId);
    return known && !known.isRevoked ? known.scope : nothing;
  }

  /** Tenant of a worker's credential; undefined when it has none or attestation is off. */
  tenantOf(workerId: string): string | undefined {
    const known = this.current === 'off' ? undefined : this.workers.get(workerId);
    return known && !known.isRevoked ? known.credential.tenant_id : undefined;
  }

  private get isOff(): boolean {
    return this.current === 'off' && this.deps.signatures === 'off' && !this.sessions;
  }

  /** Runs the checks that are on, one after the other, until one refuses the packet. */
  private pass(
    packet: AttestedPacket,
    [first, ...rest]: readonly [TrustMode, () => Refusal | Promise<Refusal>][],
  ): boolean | Promise<boolean> {
    if (!first) return true;
    const [mode, check] = first;
    if (mode === 'off') return this.pass(packet, rest);
    const proceed = (reason: Refusal) => this.conclude(packet, reason, mode) && this.pass(packet, rest);
    return when(check(), (reason) => {
      // A result is sent once, so it is not refused for a change that this process has not read yet. When reading fails, the
      // bus delivers it again.
      const mayBeOutdated = packet.kind === 'job_result' && reason !== undefined && outdatedReasons.has(reason);
      return mayBeOutdated ? this.syncSoon().then(check).then(proceed) : proceed(reason);
    });
  }

  /** What other processes show of a worker's trust. */
  describe(workerId: string): WorkerTrustView {
    if (this.isOff) return {};
    const known = this.find(workerId);
    const { session } = known ?? {};
    return {
      attested: known !== undefined,
      ...(known && { tenant: known.credential.tenant_id }),
      ...(this.sessions && session && { session: { exp_ms: session.exp_ms, revoked: session.revoked === true } }),
    };
  }

  /** Applies all earlier changes. Bounds the reads that a flood of forged packets causes. */
  private async syncSoon(): Promise<void> {
    const waitMs = this.syncedAtMs + MIN_SYNC_INTERVAL_MS - performance.now();
    if (waitMs > 0) await new Promise((resume) => setTimeout(resume, waitMs));
    return this.sync();
  }

  private conclude(packet: AttestedPacket, reason: Refusal, mode: TrustMode): boolean {
    if (reason === undefined) return true;
    // A token that is wrong was not sent by an older worker.
    const isStrict = reason.startsWith('session_') && reason !== 'session_required';
    if (isStrict) this.noteEndedSession(packet);
    this.deps.onRefused({ kind: packet.kind, reason, mode: isStrict ? 'enforce' : mode, workerId: packet.sender_id });
    return mode !== 'enforce' && !isStrict;
  }

  /** The worker may not have received the notice. A token of another worker, or one not signed here, is no reason for one. */
  private noteEndedSession({ sender_id: id, auth_token: token }: AttestedPacket): void {
    const known = this.workers.get(id);
    const claims = this.sessions?.readToken(token);
    const nowMs = performance.now();
    if (!known || claims?.sub !== id || nowMs - (known.refusedAtMs ?? -Infinity) < MIN_NOTICE_INTERVAL_MS) return;
    known.refusedAtMs = nowMs;
    for (const listener of this.sessionEnds) listener(id, claims.jti);
  }

  private findSessionRefusal(packet: AttestedPacket): Refusal | Promise<Refusal> {
    const { sessions } = this;
    if (!sessions) return undefined;
    if (!isFromClaimedWorker(packet)) return 'sender_id_mismatch';
    const { auth_token: token, sender_id: id } = packet;
    if (!isSessionToken(token)) return 'session_required';
    const check = (): Refusal => {
      const known = this.workers.get(id);
      if (!known || known.isRevoked) return 'session_invalid';
      const outcome = sessions.findRefusal(known, token);
      return 'refusal' in outcome ? outcome.refusal : findScopeRefusal(packet, known.scope);
    };
    const first = check();
    const known = this.workers.get(id);
    // Another process may have issued it a moment ago.
    if (first !== 'session_invalid' || !known || !sessions.isNewer(known, token)) return first;
    return this.syncSoon().then(check);
  }

  private findSignatureRefusal(delivery: AttestedDelivery): Refusal | Promise<Refusal> {
    const { packet, bytes } = delivery;
    if (!isFromClaimedWorker(packet)) return 'sender_id_mismatch';
    if (this.version < 0) return 'credential_cache_unavailable';
    const known = this.workers.get(packet.sender_id);
    if (!known || known.isRevoked || known.keys.length === 0) {
      return packet.signature.length === 0 ? 'signature_missing' : 'signature_key_unknown';
    }
    const nowMs = this.deps.clock.nowMs();
    // A result may wait in its stream for longer than a signature is valid; it counts once, for its dispatch.
    const sentMs = packet.kind === 'job_result' ? nowMs : packet.created_at_us / 1_000;
    const fault = findSignatureFault(bytes, known.keys, sentMs, nowMs);
    return fault ?? when(this.replays.isReplay(delivery), (isReplay) => (isReplay ? 'replay_detected' : undefined));
  }

  private findRefusal(packet: AttestedPacket): Refusal | Promise<Refusal> {
    if (!isFromClaimedWorker(packet)) return 'sender_id_mismatch';
    if (this.version < 0) return 'credential_cache_unavailable';
    const known = this.workers.get(packet.sender_id);
    // A session was issued to the holder of a key of the credential, and was checked before. Its scope is checked again, since
    // SVC_SDK_HANDSHAKE=warn admits a packet that is out of scope.
    if (this.sessions && isSessionToken(packet.auth_token))
      return known && !known.isRevoked ? findScopeRefusal(packet, known.scope) : 'credential_invalid';
    const token = getToken(packet);
    if (token === '') return 'auth_token_missing';
    if (!known || known.isRevoked) return 'credential_invalid';
    const outcome = this.verifier.verify(known, token);
    const toReason = (verified: Awaited<typeof outcome>): RefusalReason | undefined => {
      if (verified === 'error') return 'credential_verify_error';
      // It may have been revoked or replaced in the meantime.
      const isCurrent = this.workers.get(packet.sender_id) === known;
      return verified === 'valid' && isCurrent ? findScopeRefusal(packet, known.scope) : 'credential_invalid';
    };
    return outcome instanceof Promise ? outcome.then(toReason) : toReason(outcome);
  }

  private async readChanges(): Promise<void> {
    this.syncedAtMs = performance.now();
    const { trust, attestation } = this.deps;
    const mode = attestation ?? (await this.configured());
    const isUsed = this.deps.signatures !== 'off' || this.sessions || this.deps.heartbeats !== 'authority';
    if (mode !== 'off' || isUsed) {
      const version = await trust.version();
      // A lower version is that of a restored backup.
      if (this.version < 0 || version < this.version) await this.readAll();
      else if (version > this.version) this.apply(await this.readSome(await trust.changedSince(this.version)));
      this.version = version;
    } else this.version = -1;
    this.current = mode;
  }

  private async configured(): Promise<TrustMode> {
    // Without a tenant only system/default is read, so that no tenant changes the mode.
    const { worker_attestation: mode } = section(await this.deps.config.at({ tenant: '' }), 'boundary_hardening', {
      worker_attestation: 'off',
    });
    return mode === 'warn' || mode === 'enforce' ? mode : 'off';
  }

  private async readAll(): Promise<void> {
    const changed = await this.readSome(await this.deps.trust.allIds());
    for (const id of this.workers.keys()) if (!changed.has(id)) changed.set(id, undefined);
    this.apply(changed);
  }

  private async readSome(ids: readonly string[]): Promise<Map<string, WorkerTrustRecord | undefined>> {
    const found = await this.deps.trust.records(ids);
    return new Map(ids.map((id) => [id, found.get(id)]));
  }

  private apply(changed: ReadonlyMap<string, WorkerTrustRecord | undefined>): void {
    const isEnforced = this.current === 'enforce' || this.deps.signatures === 'enforce';
    for (const [id, record] of changed) {
      const before = this.workers.get(id);
      const known = record && this.toKnown(record, before);
      if (known) this.workers.set(id, known);
      else this.workers.delete(id);
      const wasValid = before !== undefined && !before.isRevoked;
      const isOut = wasValid && (!known || known.isRevoked);
      const lostSession = before !== undefined && !before.session?.revoked && known?.session?.revoked === true;
      if ((isEnforced && isOut) || (this.sessions && lostSession))
        for (const listener of this.revocations) listener(id);
      if (this.sessions && lostSession) for (const listener of this.sessionEnds) listener(id, known.session?.jti ?? '');
    }
  }

  private toKnown(
    { credential, token, session, revokedAt, isAgentStopped }: WorkerTrustRecord,
    before: KnownWorker | undefined,
  ): KnownWorker {
    const { tenant_id: tenant, allowed_pools: pools, allowed_topics: topics } = credential;
    const digest = before?.token.credential_hash === token.credential_hash ? before.digest : undefined;
    return {
      credential,
      token,
      ...(digest !== undefined && { digest }),
      scope: { tenant: tenant === this.deps.defaultTenant ? undefined : tenant, pools, topics },
      session,
      keys: credential.public_keys.map((pem) => openPacketKey(pem)),
      isRevoked: revokedAt !== undefined || isAgentStopped === true,
    };
  }
}

/** Continues at once when the value is there. */
const when = <T, R>(value: T | Promise<T>, next: (value: T) => R | Promise<R>): R | Promise<R> =>
  value instanceof Promise ? value.then(next) : next(value);
