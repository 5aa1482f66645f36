import type { RunState } from '@svc/workflow';
import { LRUCache } from 'lru-cache';

interface CacheEntry {
  revision: number;
  run: RunState;
  bytes: number;
}

const MAX_RUNS = 2_000;
const MAX_BYTES = 128 * 1024 * 1024;

/** Runs as this process last saved them. The revision in the store decides whether an entry is current. */
export class RunCache {
  private readonly runs = new LRUCache<string, CacheEntry>({
    max: MAX_RUNS,
    maxSize: MAX_BYTES,
    sizeCalculation: ({ bytes }) => Math.max(1, bytes),
  });

  find(id: string, revision: number): CacheEntry | undefined {
    const cached = this.runs.get(id);
    return cached?.revision === revision ? cached : undefined;
  }

  keep(id: string, entry: CacheEntry): void {
    this.runs.set(id, entry);
  }

  forget(id: string): void {
    this.runs.delete(id);
  }
}
