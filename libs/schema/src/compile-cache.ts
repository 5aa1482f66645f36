import { createHash } from 'node:crypto';
import { canonicalJson } from './canonical-json';
import { compileSchema, type Compilation } from './compile';

type Json = Record<string, unknown>;

/** Compiled schemas by their content, the least recently used forgotten first. Compiling takes milliseconds, hashing not. */
export class CompileCache {
  private readonly kept = new Map<string, Compilation>();

  constructor(private readonly most = 500) {}

  /** As `compileSchema`. */
  compile(document: Json, known: ReadonlyMap<string, Json>): Compilation {
    const key = hashOf(document, known);
    const compilation = this.kept.get(key) ?? compileSchema(document, known);
    this.kept.delete(key);
    this.kept.set(key, compilation);
    const [oldest] = this.kept.keys();
    if (this.kept.size > this.most && oldest !== undefined) this.kept.delete(oldest);
    return compilation;
  }

  get size(): number {
    return this.kept.size;
  }
}

function hashOf(document: Json, known: ReadonlyMap<string, Json>): string {
  const hash = createHash('sha256').update(canonicalJson(document));
  for (const [id, other] of [...known].sort(([a], [b]) => (a < b ? -1 : 1))) {
    hash.update(`\n${JSON.stringify(id)} ${canonicalJson(other)}`);
  }
  return hash.digest('base64');
}
