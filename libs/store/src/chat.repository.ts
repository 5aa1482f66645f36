import type { Redis } from 'ioredis';
import { keys } from './keys';
import { runScript } from './scripts';

/** A line of a conversation; workers write such lists too, so it may be no JSON. */
export interface StoredMessage {
  /** How many messages came before it, ever. */
  position: number;
  text: string;
}

export interface MessagePage {
  items: StoredMessage[];
  /** Position of the next older message; null at the end. */
  next: number | null;
}

const kept = 1_000;

/**
 * Conversations: a list of JSON lines for each memory, of which the newest 1000 stay.
 * See docs/reference/workflows.md#chat.
 */
export class ChatRepository {
  constructor(private readonly redis: Redis) {}

  /** Returns the position of the last. */
  async append(memoryId: string, messages: readonly [object, ...object[]]): Promise<number> {
    const lines = messages.map((message) => JSON.stringify(message));
    return Number(await runScript(this.redis, 'addMessages', ...this.keysOf(memoryId), kept, ...lines));
  }

  /**
   * Newest first. Messages that come meanwhile do not shift the pages.
   *
   * @param from position of the newest to read: `next` of the page before
   */
  async page(memoryId: string, limit: number, from?: number): Promise<MessagePage> {
    // One more tells whether there is a next page.
    const reply = await runScript(this.redis, 'pageMessages', ...this.keysOf(memoryId), from ?? '', limit + 1);
    const [last, ...lines] = reply as [string, ...string[]];
    const newest = lines.reverse().map((text, i) => ({ position: Number(last) - i, text }));
    return { items: newest.slice(0, limit), next: newest[limit]?.position ?? null };
  }

  private keysOf(memoryId: string): [string, string] {
    return [keys.messages(memoryId), keys.messagesDropped(memoryId)];
  }
}
