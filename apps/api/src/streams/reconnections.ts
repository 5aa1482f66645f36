import { LRUCache } from 'lru-cache';

const WITHIN_MS = 60_000;

/** Recognizes clients that open a stream soon after they had closed one. */
export class Reconnections {
  private readonly left = new LRUCache<string, true>({ max: 10_000, ttl: WITHIN_MS });

  /** @returns whether the client closed a stream within the last minute */
  open(client: string): boolean {
    return this.left.delete(client);
  }

  close(client: string): void {
    this.left.set(client, true);
  }
}
