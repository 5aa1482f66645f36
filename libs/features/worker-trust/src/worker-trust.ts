import { findSignatureFault, openPacketKey, type PacketKey } from '@svc/bus';
import type { EffectiveConfig } from '@svc/settings';
import { section } from '@svc/settings';
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
import { ReplayGuard } from './replay-guard';
import { TokenVerifier, type VerifiableCredential } from './token-verifier';
import type { StoredCredential, WorkerTrustRecord, WorkerTrustRepository } from './worker-trust.repository';

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
  clock: { nowMs(): number };
  defaultTenant: string;
  onRefused(refused: RefusedWorker): void;
  /** Verifying a token failed. */
  onError(error: unknown): void;
}

interface KnownWorker extends VerifiableCredential {
  credential: StoredCredential;
  scope: WorkerScope;
  keys: readonly PacketKey[];
  isRevoked: boolean;
}

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
  private readonly revocations: ((workerId: string) => void)[] = [];
  private version = -1;
  private current: TrustMode = 'off';
  private running: Promise<void> | undefined;
  private next: Promise<void> | undefined;

  constructor(private readonly deps: WorkerTrustDeps) {
    this.verifier = new TokenVerifier(deps.trust, (error) => deps.onError(error));
    this.replays = new ReplayGuard(deps.trust, deps.clock);
    // Before the first read every packet is refused, instead of none.
    this.current = deps.attestation ?? 'off';
  }

  get mode(): TrustMode {
    return this.current;
  }

  /** Calls back for each worker whose credential was revoked while attestation is enforced. */
  onRevoked(listener: (workerId: string) => void): void {
    this.revocations.push(listener);
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
    if (attestation === 'off' && signatures === 'off') return true;
    if (packet.kind === 'job_result' && isServiceSender(packet.sender_id)) return true;
    const reason = attestation === 'off' ? undefined : this.findRefusal(packet);
    return when(reason, (refusal) => {
      if (!this.conclude(packet, refusal, attestation)) return false;
      if (signatures === 'off') return true;
      return when(this.findSignatureRefusal(delivery), (fault) => this.conclude(packet, fault, signatures));
    });
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

  private conclude(packet: AttestedPacket, reason: RefusalReason | undefined, mode: TrustMode): boolean {
    if (reason === undefined) return true;
    this.deps.onRefused({ kind: packet.kind, reason, mode, workerId: packet.sender_id });
    return mode !== 'enforce';
  }

  private findSignatureRefusal(
    delivery: AttestedDelivery,
  ): RefusalReason | undefined | Promise<RefusalReason | undefined> {
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

  private findRefusal(packet: AttestedPacket): RefusalReason | undefined | Promise<RefusalReason | undefined> {
    if (!isFromClaimedWorker(packet)) return 'sender_id_mismatch';
    if (this.version < 0) return 'credential_cache_unavailable';
    const token = getToken(packet);
    if (token === '') return 'auth_token_missing';
    const known = this.workers.get(packet.sender_id);
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
    const { trust, attestation } = this.deps;
    const mode = attestation ?? (await this.configured());
    if (mode !== 'off' || this.deps.signatures !== 'off') {
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
      if (isEnforced && wasValid && (!known || known.isRevoked)) for (const listener of this.revocations) listener(id);
    }
  }

  private toKnown({ credential, token, revokedAt }: WorkerTrustRecord, before: KnownWorker | undefined): KnownWorker {
    const { tenant_id: tenant, allowed_pools: pools, allowed_topics: topics } = credential;
    const digest = before?.token.credential_hash === token.credential_hash ? before.digest : undefined;
    return {
      credential,
      token,
      ...(digest !== undefined && { digest }),
      scope: { tenant: tenant === this.deps.defaultTenant ? undefined : tenant, pools, topics },
      keys: credential.public_keys.map((pem) => openPacketKey(pem)),
      isRevoked: revokedAt !== undefined,
    };
  }
}

/** Continues at once when the value is there. */
const when = <T, R>(value: T | Promise<T>, next: (value: T) => R | Promise<R>): R | Promise<R> =>
  value instanceof Promise ? value.then(next) : next(value);
