import { keys, runScript, type ChatChange } from '@svc/store';
import type { Redis } from 'ioredis';

/** A line of a conversation. Workers write these lists too, so it may not be JSON. */
export interface StoredMessage {
  /** Number of earlier messages, dropped ones included. */
  position: number;
  text: string;
}

export interface MessagePage {
  items: StoredMessage[];
  /** Position of the next older message; null at the end. */
  next: number | null;
}

const MAX_MESSAGES = 1_000;

/**
 * Conversations: a list of JSON lines for each memory, limited to the newest 1000 while its tenant has no
 * legal hold.
 * See docs/reference/workflows.md#chat.
 */
export class ChatRepository {
  constructor(private readonly redis: Redis) {}

  /**
   * @param change announced to stream clients with the messages
   * @returns the position of the last message
   */
  async append(memoryId: string, messages: readonly [object, ...object[]], change?: ChatChange): Promise<number> {
    const lines = messages.map((message) => JSON.stringify(message));
    const announced = change ? JSON.stringify(change) : '';
    return Number(
      await runScript(this.redis, 'addMessages', ...this.keysOf(memoryId), MAX_MESSAGES, announced, memoryId, ...lines),
    );
  }

  /**
   * Newest first. Concurrent appends do not shift the pages.
   *
   * @param from position of the newest message to read: `next` of the previous page
   */
  async page(memoryId: string, limit: number, from?: number): Promise<MessagePage> {
    // One more than requested, to detect a next page.
    const reply = await runScript(this.redis, 'pageMessages', ...this.keysOf(memoryId), from ?? '', limit + 1);
    const [last, ...lines] = reply as [string, ...string[]];
    const newest = lines.reverse().map((text, i) => ({ position: Number(last) - i, text }));
    return { items: newest.slice(0, limit), next: newest[limit]?.position ?? null };
  }

  private keysOf(memoryId: string): [string, string] {
    return [keys.messages(memoryId), keys.messagesDropped(memoryId)];
  }
}
