import { canonicalJson } from '@svc/json';
import { LRUCache } from 'lru-cache';
import { createHash } from 'node:crypto';
import { compileSchema, type Compilation } from './compile';

type Json = Record<string, unknown>;

/** Cache of compiled schemas by content. Compiling takes milliseconds, hashing microseconds. */
export class CompileCache {
  private readonly compilations: LRUCache<string, Compilation>;

  constructor(maxSchemas = 500) {
    this.compilations = new LRUCache({ max: maxSchemas });
  }

  /** Same as `compileSchema`, cached. */
  compile(document: Json, known: ReadonlyMap<string, Json>): Compilation {
    const key = hashSchemas(document, known);
    const cached = this.compilations.get(key);
    if (cached) return cached;
    const compilation = compileSchema(document, known);
    this.compilations.set(key, compilation);
    return compilation;
  }

  get size(): number {
    return this.compilations.size;
  }
}

function hashSchemas(document: Json, known: ReadonlyMap<string, Json>): string {
  const hash = createHash('sha256').update(canonicalJson(document));
  for (const [id, other] of [...known].sort(([a], [b]) => (a < b ? -1 : 1))) {
    hash.update(`\n${JSON.stringify(id)} ${canonicalJson(other)}`);
  }
  return hash.digest('base64');
}
