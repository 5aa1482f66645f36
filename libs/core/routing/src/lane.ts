import { hash } from 'node:crypto';
import type { RoutingNeeds } from './choose-worker';

export type Priority = 'critical' | 'interactive' | 'batch';

/** Dispatch order of waiting jobs: lower first. See docs/reference/routing.md#fairness. */
export const levels: Readonly<Record<Priority, number>> = { critical: 1, interactive: 2, batch: 3 };

/** BullMQ priorities in the queue of undecided jobs, in the same order. */
export const queuePriorities: Readonly<Record<Priority, number>> = { critical: 1, interactive: 10, batch: 100 };

const placementLabel = /^(placement|constraint|node)\./;

/** Derives the routing requirements of a job from its topic, capabilities and labels. */
export function toRoutingNeeds(
  topic: string,
  requires: readonly string[],
  labels: Readonly<Record<string, string>>,
): RoutingNeeds {
  const names = Object.keys(labels).filter((label) => placementLabel.test(label));
  const placement = Object.fromEntries(names.sort().map((label) => [label, labels[label] ?? '']));
  const preferredPool = labels['preferred_pool'];
  return {
    topic,
    requires: requires.length === 0 ? [] : [...new Set(requires.map((entry) => entry.trim().toLowerCase()))].sort(),
    placement,
    ...(preferredPool && { preferredPool }),
  };
}

/** The lane of jobs with equal requirements: a short id, and a spec that `needsFromSpec` parses. */
export function toLane(needs: RoutingNeeds): { id: string; spec: string } {
  const spec = JSON.stringify(needs);
  const plain =
    needs.requires.length === 0 &&
    Object.keys(needs.placement).length === 0 &&
    !needs.preferredPool &&
    !needs.preferredWorkerId;
  return {
    id: plain ? needs.topic : `${needs.topic}#${hash('sha256', spec).slice(0, 12)}`,
    spec,
  };
}

export const needsFromSpec = (spec: string): RoutingNeeds => JSON.parse(spec) as RoutingNeeds;
