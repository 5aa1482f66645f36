import { effectsLabel, grantsLabel, inlineDataLabel, storeAccessLabel, type Heartbeat } from '@svc/contract';

const abilityLabels = [effectsLabel, grantsLabel, inlineDataLabel, storeAccessLabel] as const;
/** Heartbeat label by which a process of a worker announces an ability. */
export type AbilityLabel = (typeof abilityLabels)[number];

interface Announced {
  /** In the last heartbeat. */
  labels: ReadonlySet<AbilityLabel>;
  /** Last heartbeat without the label, unix ms. */
  withoutAtMs: Map<AbilityLabel, number>;
  /** Last heartbeat with the label, unix ms. */
  withAtMs: Map<AbilityLabel, number>;
}

/**
 * Abilities that workers announce in their heartbeats. Any process of a worker may receive its next dispatch: one that drains
 * or its successor, of another version. So an ability counts only while all of them announce it.
 */
export class AnnouncedAbilities {
  private readonly workers = new Map<string, Announced>();

  note({ worker_id: id, labels }: Heartbeat, nowMs: number): void {
    const known = this.workers.get(id);
    const withoutAtMs = known?.withoutAtMs ?? new Map<AbilityLabel, number>();
    const withAtMs = known?.withAtMs ?? new Map<AbilityLabel, number>();
    const announced = abilityLabels.filter((label) => labels[label] === 'true');
    this.workers.set(id, { labels: new Set(announced), withoutAtMs, withAtMs });
    for (const label of abilityLabels) (announced.includes(label) ? withAtMs : withoutAtMs).set(label, nowMs);
  }

  /** @param sinceMs a process without a heartbeat since then has stopped */
  has(id: string, label: AbilityLabel, sinceMs: number): boolean {
    const known = this.workers.get(id);
    return known?.labels.has(label) === true && (known.withoutAtMs.get(label) ?? -Infinity) < sinceMs;
  }

  /** Whether any process of the worker has the ability. @param sinceMs as in `has` */
  hasAny(id: string, label: AbilityLabel, sinceMs: number): boolean {
    return (this.workers.get(id)?.withAtMs.get(label) ?? -Infinity) >= sinceMs;
  }

  forget(id: string): void {
    this.workers.delete(id);
  }
}
