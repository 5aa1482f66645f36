import type { Redis } from 'ioredis';
import { keys } from './keys';
import { runScript } from './scripts';

export interface ConfigDocument {
  scope: string;
  scope_id: string;
  data: Record<string, unknown>;
  revision: number;
  updated_at: string;
  meta: Record<string, string>;
}

/** Layered config documents. Spec: "Config document". */
export class ConfigRepository {
  constructor(private readonly redis: Redis) {}

  /** The documents that exist, in the order asked. */
  async documents(scopes: readonly (readonly [scope: string, id: string])[]): Promise<(ConfigDocument | null)[]> {
    if (scopes.length === 0) return [];
    const texts = await this.redis.mget(scopes.map(([scope, id]) => keys.config(scope, id)));
    return texts.map((text) => (text ? (JSON.parse(text) as ConfigDocument) : null));
  }

  /**
   * Compare-and-set: writes the document if the stored one still has the revision that was read, 0 = there was none.
   * Returns whether it did. Core contract 8.
   */
  async replace(document: ConfigDocument, readRevision: number): Promise<boolean> {
    const { scope, scope_id, revision } = document;
    const key = keys.config(scope, scope_id);
    const place = `${scope}:${scope_id}`;
    const reply = await runScript(
      this.redis,
      'replaceConfig',
      key,
      readRevision,
      JSON.stringify(document),
      place,
      revision,
    );
    return (reply as [string])[0] === 'written';
  }

  /** Revision of a document as last replaced; 0 when it never was. One small read, for whoever holds a copy. */
  async revision(scope: string, id: string): Promise<number> {
    return Number((await this.redis.hget(keys.configRevisions(), `${scope}:${id}`)) ?? 0);
  }

  async write(document: ConfigDocument): Promise<void> {
    await this.redis.set(keys.config(document.scope, document.scope_id), JSON.stringify(document));
  }
}
