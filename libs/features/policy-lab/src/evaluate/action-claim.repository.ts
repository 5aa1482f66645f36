import { keys } from '@svc/store';
import type { Redis } from 'ioredis';

/** Used approvals of actions. Each approval authorizes one action. See docs/reference/policy.md#action-checks. */
export class ActionClaimRepository {
  constructor(private readonly redis: Redis) {}

  async isTaken(approvalRef: string): Promise<boolean> {
    return (await this.redis.exists(keys.actionClaim(approvalRef))) === 1;
  }

  /**
   * Claims an approval. Exactly one of several concurrent callers succeeds.
   *
   * @param keepSec must exceed the validity of the approval
   * @returns whether this call claimed it
   */
  async take(approvalRef: string, actionHash: string, keepSec: number): Promise<boolean> {
    return (await this.redis.set(keys.actionClaim(approvalRef), actionHash, 'EX', keepSec, 'NX')) === 'OK';
  }
}
