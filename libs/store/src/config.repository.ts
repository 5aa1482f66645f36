import type { Redis } from 'ioredis';
import { keys } from './keys';
import { luaJson } from './lua-json';
import { runScript } from './scripts';

export interface ConfigDocument {
  scope: string;
  scope_id: string;
  data: Record<string, unknown>;
  revision: number;
  updated_at: string;
  meta: Record<string, string>;
}

const maxRevisions = 20;
const ownedScopes = ['team', 'workflow', 'step'];

/**
 * The owning tenant of a team, workflow or step document; undefined for other scopes and for documents without a tenant.
 * See docs/reference/config.md#documents.
 */
export const getOwner = ({ scope, meta }: Pick<ConfigDocument, 'scope' | 'meta'>): string | undefined =>
  ownedScopes.includes(scope) ? meta['tenant'] : undefined;

/** Arguments of the script `replaceConfig`. */
export const toReplaceArgs = (document: ConfigDocument, readRevision: number): (string | number)[] => {
  const { scope, scope_id: id, revision } = document;
  return [readRevision, luaJson(document), scope, id, revision, getOwner(document) ?? '', maxRevisions];
};

/** Layered config documents. */
export class ConfigRepository {
  constructor(private readonly redis: Redis) {}

  /** Reads documents in the given order; null for missing ones. */
  async documents(scopes: readonly (readonly [scope: string, id: string])[]): Promise<(ConfigDocument | null)[]> {
    if (scopes.length === 0) return [];
    const texts = await this.redis.mget(scopes.map(([scope, id]) => keys.config(scope, id)));
    return texts.map((text) => (text ? (JSON.parse(text) as ConfigDocument) : null));
  }

  /**
   * Compare-and-set: writes the document if the stored one still has the revision that was read, 0 = no document.
   * Returns whether it was written. The last 20 revisions stay readable.
   */
  async replace(document: ConfigDocument, readRevision: number): Promise<boolean> {
    const key = keys.config(document.scope, document.scope_id);
    const reply = await runScript(this.redis, 'replaceConfig', key, ...toReplaceArgs(document, readRevision));
    return (reply as [string])[0] === 'written';
  }

  /** Restores the set of pools that may get jobs from the stored system/default. */
  async refreshOpenPools(): Promise<void> {
    await runScript(this.redis, 'refreshOpenPools', keys.config('system', 'default'));
  }

  /** Current revision of a document; 0 if it was never replaced. One small read, to validate caches. */
  async revision(scope: string, id: string): Promise<number> {
    return Number((await this.redis.hget(keys.configRevisions(), `${scope}:${id}`)) ?? 0);
  }

  /** Revisions of these documents by `<scope>/<id>`, without those that were never replaced. */
  async revisions(scope: string, ids: readonly string[]): Promise<ReadonlyMap<string, number>> {
    if (ids.length === 0) return new Map();
    const fields = ids.map((id) => `${scope}:${id}`);
    const found = await this.redis.hmget(keys.configRevisions(), ...fields);
    return new Map(ids.flatMap((id, i) => (found[i] ? [[`${scope}/${id}`, Number(found[i])] as const] : [])));
  }

  /** An earlier revision, counted from the newest (0); null if it is no longer kept. */
  async earlier(scope: string, id: string, back: number): Promise<ConfigDocument | null> {
    const text = await this.redis.lindex(keys.configHistory(scope, id), back);
    return text ? (JSON.parse(text) as ConfigDocument) : null;
  }

  /** Number of team, workflow and step documents of a tenant. */
  countOf(tenant: string): Promise<number> {
    return this.redis.scard(keys.configsOf(tenant));
  }
}
