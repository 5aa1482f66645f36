import { configScopes } from '@svc/contract';
import type { ConfigDocument, Store } from '@svc/store';
import type { Clock } from './deps';

/** Where a job stands in the layers of config. */
export interface ConfigPlace {
  tenant: string;
  team?: string | undefined;
  workflow?: string | undefined;
  step?: string | undefined;
}

const keptMs = 30_000;

/**
 * Merges config documents for a place: system, org, team, workflow, step; a narrower document's top-level key replaces the
 * wider one's. Read at most every 30 s a place, or after a change notice. Spec: "Config document".
 */
export class EffectiveConfig {
  private readonly listeners: (() => void)[] = [];
  private readonly texts = new WeakMap<object, string>();
  private readonly kept = new Map<string, { data: Record<string, unknown> | undefined; untilMs: number }>();

  constructor(
    private readonly store: Pick<Store, 'config'>,
    private readonly clock: Clock,
  ) {}

  /** The merged data, or undefined when no document exists for the place. */
  async at(place: ConfigPlace): Promise<Record<string, unknown> | undefined> {
    const key = JSON.stringify([place.tenant, place.team, place.workflow, place.step]);
    const found = this.kept.get(key);
    if (found && found.untilMs > this.clock.nowMs()) return found.data;
    const data = merge(await this.store.config.documents(scopesOf(place)));
    if (this.kept.size > 10_000) this.kept.clear();
    this.kept.set(key, { data, untilMs: this.clock.nowMs() + keptMs });
    return data;
  }

  /** The same as JSON, written once, as workers get it; undefined when no document exists. Wire contract 13. */
  async textAt(place: ConfigPlace): Promise<string | undefined> {
    const data = await this.at(place);
    if (!data) return undefined;
    const text = this.texts.get(data) ?? JSON.stringify(data);
    this.texts.set(data, text);
    return text;
  }

  /** Forgets everything: a notice said that config changed. */
  changed(): void {
    this.kept.clear();
    for (const listener of this.listeners) listener();
  }

  /** For whatever else holds a part of the configuration in memory. */
  onChange(listener: () => void): void {
    this.listeners.push(listener);
  }
}

function scopesOf({ tenant, team, workflow, step }: ConfigPlace): (readonly [string, string])[] {
  const ids: Record<(typeof configScopes)[number], string | undefined> = {
    system: 'default',
    org: tenant,
    team,
    workflow,
    step,
  };
  return configScopes.flatMap((scope) => {
    const id = ids[scope];
    return id ? [[scope, id] as const] : [];
  });
}

function merge(documents: (ConfigDocument | null)[]): Record<string, unknown> | undefined {
  const there = documents.flatMap((document) => document ?? []);
  return there.length === 0
    ? undefined
    : there.reduce<Record<string, unknown>>((all, { data }) => ({ ...all, ...data }), {});
}

/** A section of effective config over its defaults, key by key. */
export function section<T extends object>(config: Record<string, unknown> | undefined, name: string, defaults: T): T {
  const own = config?.[name];
  return own !== null && typeof own === 'object' ? { ...defaults, ...own } : defaults;
}

export type FailMode = 'closed' | 'open';

/**
 * What happens when a safety check gives no answer: a tenant's own choice, else the installation's. Engine contract A11,
 * A15.
 */
export function failMode(
  config: Record<string, unknown> | undefined,
  check: 'input_fail_mode' | 'output_fail_mode',
  otherwise: FailMode,
): FailMode {
  const own = (config?.['scheduler'] as Record<string, unknown> | undefined)?.[check];
  return own === 'closed' || own === 'open' ? own : otherwise;
}

/**
 * What one turn costs a tenant among those who wait: 1, or less for one with more weight (`scheduler.weight`, 1 to 100).
 * Engine contract A8.
 */
export function turnCost(config: Record<string, unknown> | undefined): number {
  const weight = numberAt(config, 'scheduler', 'weight') ?? 1;
  return 1 / Math.min(100, Math.max(1, weight));
}

/** A number of a section, or undefined when it is not set or no number. */
export function numberAt(config: Record<string, unknown> | undefined, name: string, key: string): number | undefined {
  const value = (config?.[name] as Record<string, unknown> | undefined)?.[key];
  return typeof value === 'number' ? value : undefined;
}
