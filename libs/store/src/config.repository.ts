import type { Redis } from 'ioredis';
import { keys } from './keys';

export interface ConfigDocument {
  scope: string;
  scope_id: string;
  data: Record<string, unknown>;
  revision: number;
  updated_at: string;
  meta: Record<string, string>;
}

/** Layered config documents. Spec: "Config document". Their routes come with the config capability; here they are read. */
export class ConfigRepository {
  constructor(private readonly redis: Redis) {}

  /** The documents that exist, in the order asked. */
  async documents(scopes: readonly (readonly [scope: string, id: string])[]): Promise<(ConfigDocument | null)[]> {
    if (scopes.length === 0) return [];
    const texts = await this.redis.mget(scopes.map(([scope, id]) => keys.config(scope, id)));
    return texts.map((text) => (text ? (JSON.parse(text) as ConfigDocument) : null));
  }

  async write(document: ConfigDocument): Promise<void> {
    await this.redis.set(keys.config(document.scope, document.scope_id), JSON.stringify(document));
  }
}
