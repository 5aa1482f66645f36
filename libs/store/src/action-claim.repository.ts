import type { Redis } from 'ioredis';
import { keys } from './keys';

/** Which approvals of actions were used. An approval authorises once. See docs/reference/policy.md#action-checks. */
export class ActionClaimRepository {
  constructor(private readonly redis: Redis) {}

  async isTaken(approvalRef: string): Promise<boolean> {
    return (await this.redis.exists(keys.actionClaim(approvalRef))) === 1;
  }

  /**
   * Uses an approval up. Of any number of callers at once one succeeds.
   *
   * @param keepSec must be longer than the approval can be used
   * @returns whether it was this call
   */
  async take(approvalRef: string, actionHash: string, keepSec: number): Promise<boolean> {
    return (await this.redis.set(keys.actionClaim(approvalRef), actionHash, 'EX', keepSec, 'NX')) === 'OK';
  }
}
