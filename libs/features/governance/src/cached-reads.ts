import { LRUCache } from 'lru-cache';

const MAX_KEPT = 500;

/** Results that are read at most once per period; concurrent equal reads share one. */
export class CachedReads {
  private readonly kept = new LRUCache<string, Promise<unknown>>({ max: MAX_KEPT });

  /** @returns whether the result was there, and the result */
  read<T>(key: readonly unknown[], keepMs: number, read: () => Promise<T>): { isCached: boolean; result: Promise<T> } {
    const name = JSON.stringify(key);
    const found = this.kept.get(name);
    // A key names the type of its result.
    if (found) return { isCached: true, result: found as Promise<T> };
    const result = read();
    this.kept.set(name, result, { ttl: keepMs });
    result.catch(() => this.kept.delete(name));
    return { isCached: false, result };
  }
}
