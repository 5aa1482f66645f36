import { CompileCache, type CompiledSchema, type Violation } from '@svc/schema';
import type { OwnedSchema, SchemaDocument, Store } from '@svc/store';
import { LRUCache } from 'lru-cache';
import type { Clock } from '@svc/platform';

export type SchemaFound =
  { kind: 'ready'; schema: CompiledSchema } | { kind: 'missing' } | { kind: 'invalid'; violations: Violation[] };

const MAX_SCHEMAS = 2_000;

/** Registered schemas, compiled; read again after `keepMs` or a change notice, never per job. */
export class SchemaCache {
  private readonly kept = new LRUCache<string, { found: Promise<SchemaFound>; untilMs: number }>({ max: MAX_SCHEMAS });
  private readonly compiled = new CompileCache();

  constructor(
    private readonly store: Pick<Store, 'schemas'>,
    private readonly clock: Clock,
    private readonly keepMs: number,
  ) {}

  /**
   * A compiled schema of a tenant or of the installation, or the reason it cannot be used.
   *
   * @param tenant owner of the topic or run that names it; '' = the installation, whose topics use only its own schemas
   */
  async find(tenant: string, id: string): Promise<SchemaFound> {
    const key = JSON.stringify([tenant, id]);
    const kept = this.kept.get(key);
    if (kept && kept.untilMs > this.clock.nowMs()) return kept.found;
    const found = this.read(tenant, id);
    this.kept.set(key, { found, untilMs: this.clock.nowMs() + this.keepMs });
    // Failures are not cached: the next call reads again.
    found.catch(() => this.kept.delete(key));
    return found;
  }

  /** Empties the cache of documents; compiled schemas are cached by content. */
  changed(): void {
    this.kept.clear();
  }

  private async read(tenant: string, id: string): Promise<SchemaFound> {
    const found = await this.store.schemas.read(tenant, id);
    return found ? this.compile(found) : { kind: 'missing' };
  }

  /** Compiles a document with the registered schemas that it refers to, of its owner or of the installation. */
  private async compile({ document, tenant }: OwnedSchema): Promise<SchemaFound> {
    const known = new Map<string, SchemaDocument>();
    for (;;) {
      const outcome = this.compiled.compile(document, known);
      if (outcome.kind === 'compiled') return { kind: 'ready', schema: outcome.schema };
      if (outcome.kind === 'invalid') return outcome;
      const other = await this.store.schemas.readByAlias(tenant, outcome.id);
      if (!other) {
        const message = `refers to ${outcome.id}, which is not registered: register it, or remove the reference`;
        return { kind: 'invalid', violations: [{ path: '$', message }] };
      }
      // Each round adds one schema; the compiler rejects a set that is too large.
      known.set(outcome.id, other);
    }
  }
}
