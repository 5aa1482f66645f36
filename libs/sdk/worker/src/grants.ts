import { type JobRequest, WireErrorCode } from '@svc/contract';
import { type GrantFacts, type GrantFault, type GrantKey, openGrantKey, verifyGrant } from '@svc/jetstream';
import { bestMatch } from '@svc/routing';
import { FatalError, RetryableError } from './errors';
import type { DispatchIdentity } from './job';
import type { GrantOptions } from './types';

export type GrantSettings = Required<GrantOptions>;

export type GrantRefusal = GrantFault | 'grant_used' | 'approval_required';

const messages: Record<GrantRefusal, string> = {
  grant_missing: 'the dispatch has no grant, which this worker requires',
  grant_invalid: 'the grant of the dispatch is not valid',
  grant_expired: 'the grant of the dispatch has expired',
  grant_used: 'the grant of the dispatch was used before',
  approval_required: 'this worker runs jobs of this topic only after people approved them',
};
/** A new dispatch may have a grant; the services can send one at any time. */
const retried: readonly GrantRefusal[] = ['grant_missing', 'grant_expired'];
/** Removing single entries from the front of a large map is slow. */
const EVICT_EVERY = 500;

/**
 * Decides whether a dispatch may start, by the grant that the services signed for it. Each dispatch is started once: used
 * grants are remembered while they are valid. See docs/reference/worker-protocol.md#grants.
 */
export class Grants {
  private readonly keys: readonly GrantKey[];
  /** Expiry of the used grants, unix ms, by dispatch. */
  private readonly used = new Map<string, number>();
  private sinceEviction = 0;

  /** @throws Error when a key is no Ed25519 key in PEM */
  constructor(
    private readonly settings: GrantSettings,
    private readonly workerId: string,
    private readonly onWarning: (error: Error, where: string) => void,
  ) {
    this.keys = settings.keys.map(openGrantKey);
  }

  get areVerified(): boolean {
    return this.settings.mode !== 'off';
  }

  /**
   * Uses the grant of a dispatch that is about to start.
   *
   * @param packet the received bytes
   * @returns what the grant states; undefined when none is needed
   * @throws FatalError, RetryableError when the job must not start
   */
  use(packet: Uint8Array, request: JobRequest, identity: DispatchIdentity, nowMs: number): GrantFacts | undefined {
    if (this.settings.mode === 'off') return undefined;
    const checked = this.check(packet, request, identity, nowMs);
    if (checked.kind === 'valid') return checked.facts;
    if (checked.kind === 'not_needed') return undefined;
    const { fault } = checked;
    const Refused = retried.includes(fault) ? RetryableError : FatalError;
    const errorCode = WireErrorCode.ERROR_CODE_PERMISSION_DENIED;
    const error = new Refused(messages[fault], { code: fault, errorCode });
    this.onWarning(error, `job ${request.job_id}`);
    if (this.settings.mode === 'warn') return undefined;
    throw error;
  }

  /** The run ended without a result, so the next delivery of the dispatch may run it. */
  release({ dispatchId }: DispatchIdentity): void {
    this.used.delete(dispatchId);
  }

  private check(
    packet: Uint8Array,
    request: JobRequest,
    { jobId, dispatchId, attempt }: DispatchIdentity,
    nowMs: number,
  ) {
    const received = { tenant: request.tenant_id, jobId, dispatchId, attempt, workerId: this.workerId };
    const verified = verifyGrant(packet, this.keys, received, nowMs);
    const isApprovalTopic = bestMatch(this.approvalTopics, request.topic) !== undefined;
    if (verified.kind === 'fault') {
      const isNeeded = this.settings.require === 'all' || isApprovalTopic || saysApproved(request);
      if (verified.fault === 'grant_missing' && !isNeeded) return { kind: 'not_needed' } as const;
      return verified;
    }
    const refused = (fault: GrantRefusal) => ({ kind: 'fault', fault }) as const;
    if (isApprovalTopic && verified.facts.approval !== 'granted') return refused('approval_required');
    if ((this.used.get(dispatchId) ?? 0) >= nowMs) return refused('grant_used');
    this.remember(dispatchId, verified.expiresAtMs, nowMs);
    return verified;
  }

  private get approvalTopics(): Record<string, true> {
    return Object.fromEntries(this.settings.approvalTopics.map((topic) => [topic, true]));
  }

  private remember(dispatchId: string, expiresAtMs: number, nowMs: number): void {
    this.used.set(dispatchId, expiresAtMs);
    this.sinceEviction += 1;
    if (this.sinceEviction < EVICT_EVERY) return;
    this.sinceEviction = 0;
    for (const [id, endsMs] of this.used) if (endsMs < nowMs) this.used.delete(id);
  }
}

const saysApproved = ({ labels }: JobRequest): boolean => labels['approval_granted'] === 'true';

/** The request with the hash of the input that people approved, which its reader verifies. */
export function withApprovedInput(request: JobRequest, grant: GrantFacts | undefined): JobRequest {
  if (grant?.inputSha256 === undefined) return request;
  const none = { resolver_id: '', uri: '', media_type: '', size_bytes: 0, purpose: '' };
  const sha256 = Buffer.from(grant.inputSha256, 'hex');
  return { ...request, context_ref: { ...none, ...request.context_ref, sha256 } };
}
