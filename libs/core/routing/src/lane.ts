import { createHash } from 'node:crypto';
import type { RoutingNeeds } from './choose-worker';

export type Priority = 'critical' | 'interactive' | 'batch';

/** Waiting order: lower goes first. See docs/reference/routing.md#fairness. */
export const levels: Readonly<Record<Priority, number>> = { critical: 1, interactive: 2, batch: 3 };

/** BullMQ priorities for the queue of jobs to decide, in the same order. */
export const queuePriorities: Readonly<Record<Priority, number>> = { critical: 1, interactive: 10, batch: 100 };

const placementLabel = /^(placement|constraint|node)\./;

/** What a job's topic, requirements and labels ask of routing. */
export function needsOf(
  topic: string,
  requires: readonly string[],
  labels: Readonly<Record<string, string>>,
): RoutingNeeds {
  const placement = Object.fromEntries(
    Object.entries(labels)
      .filter(([label]) => placementLabel.test(label))
      .sort(([a], [b]) => (a < b ? -1 : 1)),
  );
  const preferredPool = labels['preferred_pool'];
  return {
    topic,
    requires: [...new Set(requires.map((entry) => entry.trim().toLowerCase()))].sort(),
    placement,
    ...(preferredPool && { preferredPool }),
  };
}

/** Jobs that the same workers can serve wait in one lane; its id is short and its needs can be read back from the spec. */
export function laneOf(needs: RoutingNeeds): { id: string; spec: string } {
  const spec = JSON.stringify(needs);
  const plain =
    needs.requires.length === 0 &&
    Object.keys(needs.placement).length === 0 &&
    !needs.preferredPool &&
    !needs.preferredWorkerId;
  return {
    id: plain ? needs.topic : `${needs.topic}#${createHash('sha256').update(spec).digest('hex').slice(0, 12)}`,
    spec,
  };
}

export const needsFromSpec = (spec: string): RoutingNeeds => JSON.parse(spec) as RoutingNeeds;
