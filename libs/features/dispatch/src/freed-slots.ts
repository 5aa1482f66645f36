import type { RoutingRules } from '@svc/routing';
import type { ClaimRequest, Claimed, EndClaim } from '@svc/store';

/** A claim of this size may leave slots free. */
export const MAX_JOBS_PER_CLAIM = 64;

/** The claim for slots of one worker, sent with the ends that free them. All ends of a call share it. */
export class FreedSlots implements EndClaim {
  /** Routing rules and policy snapshot in effect when the last of the ends was written. */
  rules: RoutingRules = { readinessRequired: true };
  snapshot = '';
  /** Whether the claim filled all free slots, so that there is nothing to dispatch after the ends. */
  isFilled = false;
  private requested = 0;
  private ends = 0;

  constructor(
    private readonly request: (ends: number, rules: RoutingRules, snapshot: string) => ClaimRequest | undefined,
    private readonly onClaimed: (claimed: Claimed, ends: number) => void,
  ) {}

  build(ends: number): ClaimRequest | undefined {
    const request = this.request(ends, this.rules, this.snapshot);
    this.ends = ends;
    this.requested = request?.dispatchIds.length ?? 0;
    this.isFilled = false;
    return request;
  }

  settle(claimed: Claimed): void {
    this.isFilled = claimed.isFull || (claimed.jobs.length === this.requested && this.requested < MAX_JOBS_PER_CLAIM);
    this.onClaimed(claimed, this.ends);
  }
}
