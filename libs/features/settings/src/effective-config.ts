import { configScopes, installationSections } from '@svc/contract';
import { collectBudgets, mergeConfig, type Budgets } from '@svc/policy';
import type { ConfigDocument, Store } from '@svc/store';
import { belongsTo } from './config-place';
import type { Clock } from '@svc/platform';

/** The position of a job in the layers of config. */
export interface ConfigPlace {
  tenant: string;
  team?: string | undefined;
  workflow?: string | undefined;
  step?: string | undefined;
}

/** The merged documents of a place. */
interface MergedConfig {
  data: Record<string, unknown> | undefined;
  budgets: Budgets | undefined;
}

const defaultKeepMs = 30_000;
const maxPlacesOfTenant = 200;
const maxTenants = 10_000;
const installationKeys: readonly string[] = installationSections;

/**
 * Merges config documents for a place: system, org, team, workflow, step. The stricter value of a restricting setting
 * wins; for all others the narrower document wins (`mergeConfig`). Read again after `keepMs` or a change notice, so a lost
 * notice delays a change by at most `keepMs`.
 */
export class EffectiveConfig {
  private readonly listeners: (() => void)[] = [];
  private readonly texts = new WeakMap<object, string>();
  /** Incremented by each change, so that a read begun before a change is not cached after it. */
  private changes = 0;
  private readonly kept = new Map<string, Map<string, MergedConfig & { untilMs: number }>>();

  constructor(
    private readonly store: Pick<Store, 'config'>,
    private readonly clock: Clock,
    /** Time for which documents are used without reading them again; caches built on them use it as well. */
    readonly keepMs = defaultKeepMs,
  ) {}

  /** The merged data, or undefined when no document sets anything for the place. */
  async at(place: ConfigPlace): Promise<Record<string, unknown> | undefined> {
    return (await this.held(place)).data;
  }

  /** The budgets set by the documents of the place, by layer; undefined when there are none. */
  async budgetsAt(place: ConfigPlace): Promise<Budgets | undefined> {
    return (await this.held(place)).budgets;
  }

  /** The installation's own document, which no tenant can write. */
  async installation(): Promise<Record<string, unknown> | undefined> {
    return this.at({ tenant: '' });
  }

  private async held(place: ConfigPlace): Promise<MergedConfig> {
    const key = JSON.stringify([place.team, place.workflow, place.step]);
    const found = this.kept.get(place.tenant)?.get(key);
    if (found && found.untilMs > this.clock.nowMs()) return found;
    const before = this.changes;
    const documents = await documentsAt(this.store, place);
    const held = { data: mergeSettings(documents), budgets: collectBudgets(place.tenant, documents) };
    if (before !== this.changes) return held;
    this.keep(place.tenant, key, held);
    return held;
  }

  /** Callers choose team names, so a tenant that requests many evicts only its own entries. */
  private keep(tenant: string, key: string, held: MergedConfig): void {
    const own = this.kept.get(tenant) ?? new Map<string, MergedConfig & { untilMs: number }>();
    own.delete(key);
    evictOldest(own, maxPlacesOfTenant);
    own.set(key, { ...held, untilMs: this.clock.nowMs() + this.keepMs });
    if (!this.kept.has(tenant)) evictOldest(this.kept, maxTenants);
    this.kept.set(tenant, own);
  }

  /**
   * The same as JSON, serialized once, for workers; `{}` when no document sets anything.
   * See docs/reference/worker-protocol.md#environment-and-labels.
   */
  async textAt(place: ConfigPlace): Promise<string> {
    const data = await this.at(place);
    if (!data) return '{}';
    const text = this.texts.get(data) ?? JSON.stringify(data);
    this.texts.set(data, text);
    return text;
  }

  /** Empties the cache after a change notice. */
  changed(): void {
    this.changes += 1;
    this.kept.clear();
    for (const listener of this.listeners) listener();
  }

  /** Lets other caches of config invalidate with this one. */
  onChange(listener: () => void): void {
    this.listeners.push(listener);
  }
}

/** Evicts the oldest entry when the map is full. */
function evictOldest(map: Map<string, unknown>, max: number): void {
  const [oldest] = map.keys();
  if (map.size >= max && oldest !== undefined) map.delete(oldest);
}

function listScopes({ tenant, team, workflow, step }: ConfigPlace): (readonly [string, string])[] {
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

/** The existing documents of a place that apply to its tenant, broadest first. */
export async function documentsAt({ config }: Pick<Store, 'config'>, place: ConfigPlace): Promise<ConfigDocument[]> {
  const found = await config.documents(listScopes(place));
  return found.flatMap((document) => (document && belongsTo(place.tenant, document) ? [document] : []));
}

function mergeSettings(documents: readonly ConfigDocument[]): Record<string, unknown> | undefined {
  const entries = Object.entries(mergeConfig(documents)).filter(([key]) => !installationKeys.includes(key));
  return entries.length === 0 ? undefined : Object.fromEntries(entries);
}

/** A section of effective config merged over its defaults, key by key. */
export function section<T extends object>(config: Record<string, unknown> | undefined, name: string, defaults: T): T {
  const own = config?.[name];
  return own !== null && typeof own === 'object' ? { ...defaults, ...own } : defaults;
}

export type FailMode = 'closed' | 'open';

/**
 * Fail mode of a safety check without an answer: the tenant's own setting, else the installation's.
 * See docs/reference/policy.md#output-policy.
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
 * Cost of one turn for a tenant among those waiting: 1, or less with a higher weight (`scheduler.weight`, 1 to 100).
 * See docs/reference/routing.md#fairness.
 */
export function turnCost(config: Record<string, unknown> | undefined): number {
  const weight = numberAt(config, 'scheduler', 'weight') ?? 1;
  return 1 / Math.min(100, Math.max(1, weight));
}

/** A number of a section, or undefined when it is not set or not a number. */
export function numberAt(config: Record<string, unknown> | undefined, name: string, key: string): number | undefined {
  const value = (config?.[name] as Record<string, unknown> | undefined)?.[key];
  return typeof value === 'number' ? value : undefined;
}
