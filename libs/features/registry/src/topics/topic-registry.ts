import { bestMatch } from '@svc/routing';
import { readEntries, type TopicRegistration } from './registration';
import { type DocumentDeps, readTopics } from './topics-document';

/** `open`: the registry is empty, so every topic is accepted. */
export type TopicFound =
  | { kind: 'open' }
  | { kind: 'registered'; registration: TopicRegistration }
  | { kind: 'unknown'; known: TopicRegistration[] };

type Entries = Readonly<Record<string, TopicRegistration>>;

interface Loaded {
  global: Entries;
  tenants: ReadonlyMap<string, Entries>;
  populated: boolean;
  untilMs: number;
}

/** Caches the topic registry; read again after `keepMs` or a change notice, never per job. */
export class TopicRegistry {
  private loading: Promise<Loaded> | undefined;

  constructor(
    private readonly deps: DocumentDeps,
    /** Entries that could not be read and are treated as absent. */
    private readonly onFaults: (keys: readonly string[]) => void,
    private readonly keepMs: number,
  ) {}

  /** Resolves a topic for a tenant: its own entry before a global one, an exact name before a pattern. */
  async find(tenant: string, topic: string): Promise<TopicFound> {
    const loaded = await this.load();
    if (!loaded.populated) return { kind: 'open' };
    const entries = loaded.tenants.get(tenant) ?? loaded.global;
    const match = bestMatch(entries, topic);
    return match
      ? { kind: 'registered', registration: match.value }
      : { kind: 'unknown', known: Object.values(entries) };
  }

  /** Entries that apply to a tenant, and whether there is any entry at all. */
  async list(tenant: string): Promise<{ entries: TopicRegistration[]; populated: boolean }> {
    const { tenants, global, populated } = await this.load();
    return { entries: Object.values(tenants.get(tenant) ?? global), populated };
  }

  /** Empties the cache after a change notice. */
  changed(): void {
    this.loading = undefined;
  }

  private async load(): Promise<Loaded> {
    const loading = (this.loading ??= this.read());
    try {
      const loaded = await loading;
      if (loaded.untilMs > this.deps.clock.nowMs()) return loaded;
    } catch (error) {
      // Failures are not cached: the next call reads again.
      if (this.loading === loading) this.changed();
      throw error;
    }
    if (this.loading === loading) this.changed();
    return this.load();
  }

  private async read(): Promise<Loaded> {
    const { entries, faults } = readEntries(await readTopics(this.deps));
    if (faults.length > 0) this.onFaults(faults);
    const global = byName(entries.filter(({ tenant_id }) => !tenant_id));
    const named = new Set(entries.flatMap(({ tenant_id }) => tenant_id ?? []));
    const own = (tenant: string) => byName(entries.filter(({ tenant_id }) => tenant_id === tenant));
    return {
      global,
      tenants: new Map([...named].map((tenant) => [tenant, { ...global, ...own(tenant) }])),
      populated: entries.length > 0 || faults.length > 0,
      untilMs: this.deps.clock.nowMs() + this.keepMs,
    };
  }
}

const byName = (entries: readonly TopicRegistration[]): Entries =>
  Object.fromEntries(entries.map((entry) => [entry.name, entry]));
