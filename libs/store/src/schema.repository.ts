import type { Redis } from 'ioredis';
import { keys } from './keys';
import { runScript } from './scripts';

export type SchemaDocument = Record<string, unknown>;

export interface SchemaWrite {
  id: string;
  document: SchemaDocument;
  /** The `$id` by which other schemas refer to it; absent = none can. */
  alias?: string;
  /** How many schemas there may be; 0 or less = any number. */
  most: number;
  nowUs: number;
}

export type SchemaOutcome =
  { kind: 'created' } | { kind: 'replaced' } | { kind: 'full'; count: number } | { kind: 'alias_taken'; by: string };

/** Registered JSON Schemas; they belong to the installation, not to a tenant. Core contract 10. */
export class SchemaRepository {
  constructor(private readonly redis: Redis) {}

  async write({ id, document, alias = '', most, nowUs }: SchemaWrite): Promise<SchemaOutcome> {
    const text = JSON.stringify(document);
    const reply = await runScript(this.redis, 'writeSchema', ...this.keysOf(id), id, text, alias, most, nowUs);
    const [kind, detail = ''] = reply as [SchemaOutcome['kind'], string?];
    switch (kind) {
      case 'full':
        return { kind, count: Number(detail) };
      case 'alias_taken':
        return { kind, by: detail };
      case 'created':
      case 'replaced':
        return { kind };
    }
  }

  /** Returns whether there was one. */
  async remove(id: string): Promise<boolean> {
    const reply = await runScript(this.redis, 'removeSchema', ...this.keysOf(id), id);
    return (reply as [string])[0] === 'removed';
  }

  async read(id: string): Promise<SchemaDocument | undefined> {
    const text = await this.redis.hget(keys.schema(id), 'document');
    return text ? (JSON.parse(text) as SchemaDocument) : undefined;
  }

  /** The schema that others refer to by this `$id`. */
  async readByAlias(alias: string): Promise<SchemaDocument | undefined> {
    const id = await this.redis.hget(keys.schemaAliases(), alias);
    return id ? this.read(id) : undefined;
  }

  /** Newest first. */
  async ids(limit: number): Promise<string[]> {
    return this.redis.zrevrange(keys.schemas(), 0, limit - 1);
  }

  private readonly keysOf = (id: string) => [keys.schema(id), keys.schemas(), keys.schemaAliases()] as const;
}
