import { configScopes, installationSections } from '@svc/contract';
import { budgetsOf, mergeConfig, type Budgets } from '@svc/policy';
import type { ConfigDocument, Store } from '@svc/store';
import { belongsTo } from './config-place';
import type { Clock } from '@svc/platform';

/** Where a job stands in the layers of config. */
export interface ConfigPlace {
  tenant: string;
  team?: string | undefined;
  workflow?: string | undefined;
  step?: string | undefined;
}

/** What the documents of a place come to. */
interface Held {
  data: Record<string, unknown> | undefined;
  budgets: Budgets | undefined;
}

const defaultKeepMs = 30_000;
const maxPlacesOfTenant = 200;
const maxTenants = 10_000;
const installationKeys: readonly string[] = installationSections;

/**
 * Merges config documents for a place: system, org, team, workflow, step; restricting settings by the stricter value, all
 * else by the narrower document (`mergeConfig`). Read again after `keepMs` or a change notice, so that a lost notice delays a
 * change by at most `keepMs`.
 */
export class EffectiveConfig {
  private readonly listeners: (() => void)[] = [];
  private readonly texts = new WeakMap<object, string>();
  /** How often config changed, so that what was read before a change is not kept after it. */
  private changes = 0;
  private readonly kept = new Map<string, Map<string, Held & { untilMs: number }>>();

  constructor(
    private readonly store: Pick<Store, 'config'>,
    private readonly clock: Clock,
    /** How long documents are used without reading them again; whatever is cached with them follows it. */
    readonly keepMs = defaultKeepMs,
  ) {}

  /** The merged data, or undefined when no document says anything for the place. */
  async at(place: ConfigPlace): Promise<Record<string, unknown> | undefined> {
    return (await this.held(place)).data;
  }

  /** The budgets that the documents of the place set, each layer its own; undefined when none does. */
  async budgetsAt(place: ConfigPlace): Promise<Budgets | undefined> {
    return (await this.held(place)).budgets;
  }

  /** The installation's own document, which no tenant can write. */
  async installation(): Promise<Record<string, unknown> | undefined> {
    return this.at({ tenant: '' });
  }

  private async held(place: ConfigPlace): Promise<Held> {
    const key = JSON.stringify([place.team, place.workflow, place.step]);
    const found = this.kept.get(place.tenant)?.get(key);
    if (found && found.untilMs > this.clock.nowMs()) return found;
    const before = this.changes;
    const documents = await documentsAt(this.store, place);
    const held = { data: settingsOf(documents), budgets: budgetsOf(place.tenant, documents) };
    if (before !== this.changes) return held;
    this.keep(place.tenant, key, held);
    return held;
  }

  /** Callers choose the names of teams, so a tenant that asks for many evicts its own places and no other tenant's. */
  private keep(tenant: string, key: string, held: Held): void {
    const own = this.kept.get(tenant) ?? new Map<string, Held & { untilMs: number }>();
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

  /** Forgets everything: a notice said that config changed. */
  changed(): void {
    this.changes += 1;
    this.kept.clear();
    for (const listener of this.listeners) listener();
  }

  /** For whatever else holds a part of the configuration in memory. */
  onChange(listener: () => void): void {
    this.listeners.push(listener);
  }
}

/** Makes room for one more. */
function evictOldest(map: Map<string, unknown>, max: number): void {
  const [oldest] = map.keys();
  if (map.size >= max && oldest !== undefined) map.delete(oldest);
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

/** The documents of a place that exist and take part in its tenant's config, broadest first. */
export async function documentsAt({ config }: Pick<Store, 'config'>, place: ConfigPlace): Promise<ConfigDocument[]> {
  const found = await config.documents(scopesOf(place));
  return found.flatMap((document) => (document && belongsTo(place.tenant, document) ? [document] : []));
}

function settingsOf(documents: readonly ConfigDocument[]): Record<string, unknown> | undefined {
  const entries = Object.entries(mergeConfig(documents)).filter(([key]) => !installationKeys.includes(key));
  return entries.length === 0 ? undefined : Object.fromEntries(entries);
}

/** A section of effective config over its defaults, key by key. */
export function section<T extends object>(config: Record<string, unknown> | undefined, name: string, defaults: T): T {
  const own = config?.[name];
  return own !== null && typeof own === 'object' ? { ...defaults, ...own } : defaults;
}

export type FailMode = 'closed' | 'open';

/**
 * What happens when a safety check gives no answer: a tenant's own choice, else the installation's.
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
 * What one turn costs a tenant among those who wait: 1, or less for one with more weight (`scheduler.weight`, 1 to 100).
 * See docs/reference/routing.md#fairness.
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
