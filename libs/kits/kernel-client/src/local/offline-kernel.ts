import type { Policy, VelocityCheck } from '@svc/policy';
import type { KernelEvents } from '../events';
import type { Kernel } from '../kernel';
import type { Scanners } from '../scan/scanners';
import { threadEntry } from '../thread-entry';
import { DecisionCache } from './decision-cache';
import { LocalKernel } from './local-kernel';
import { Scanner } from './scanner';

export interface OfflineParts {
  policy: Policy;
  scanners: Scanners;
  /** Count of a velocity window, including the current request. */
  count(check: VelocityCheck): number;
  onError(what: string, error: unknown): void;
}

/**
 * Evaluates a given policy without Redis, for policy tests and for re-evaluation of recorded requests. Decides like the
 * kernel. Must be closed, otherwise its threads keep running.
 */
export function openOfflineKernel({ policy, scanners, count, onError }: OfflineParts): Kernel {
  const nowMs = () => performance.now();
  const scanner = new Scanner(scanners, { threads: 1, limitMs: 10_000 }, threadEntry(), nowMs);
  const counter = (check: VelocityCheck) => Promise.resolve({ kind: 'count', count: count(check) } as const);
  return new LocalKernel({
    inForce: () => ({ policy, scanner }),
    history: { list: () => [policy.snapshot] },
    cache: new DecisionCache({ ttlMs: 0, maxSize: 1 }, nowMs),
    velocity: { count: counter, look: counter },
    velocityFailMode: 'closed',
    events: { ...silent, failed: onError },
    nowMs,
    close: () => scanner.close(),
  });
}

const silent: KernelEvents = {
  loaded: () => undefined,
  policyAge: () => undefined,
  decided: () => undefined,
  defaulted: () => undefined,
  velocityChecked: () => undefined,
  failed: () => undefined,
  breakerMoved: () => undefined,
};
