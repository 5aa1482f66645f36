import { AuditFollower, RedisDecisionLog } from '@svc/governance';
import type { Loop, Platform } from '@svc/platform';
import type { Boot, EngineEnv } from '@svc/runtime';
import { keys } from '@svc/store';

const EVERY_MS = 1_000;
const LEASE_MS = 10_000;

/** Derives the decision log of governance from the audit chains, on one replica. */
export function decisionLoop(
  { env }: Pick<Boot<Pick<EngineEnv, 'decisionLogTtlSec'>>, 'env'>,
  { store, instance }: Pick<Platform, 'store' | 'instance'>,
): Loop {
  const follower = new AuditFollower({ store, log: new RedisDecisionLog(store, env.decisionLogTtlSec * 1_000) });
  return {
    name: 'decision-log',
    everyMs: EVERY_MS,
    lease: store.lease(keys.decisionLogLease(), instance.id, LEASE_MS),
    run: () => follower.follow(),
  };
}
