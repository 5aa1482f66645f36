import { everyTenant, limits, type TenantScope } from '@svc/contract';
import { canonicalHash } from '@svc/json';
import type { Redis } from 'ioredis';
import { describeAct } from './audit-scope';
import { keys } from './keys';
import { runScript } from './scripts';

export type SchemaDocument = Record<string, unknown>;

export interface SchemaWrite {
  id: string;
  document: SchemaDocument;
  /** The `$id` for references from other schemas; absent = not referenceable. */
  alias?: string;
  /** Maximum number of schemas; 0 or less = unlimited. */
  maxSchemas: number;
  nowUs: number;
}

export type SchemaOutcome =
  | { kind: 'created' }
  | { kind: 'replaced' }
  | { kind: 'other_tenant' }
  | { kind: 'full'; count: number }
  | { kind: 'tenant_full'; count: number }
  | { kind: 'alias_taken'; by: string };

/** A schema and its owner. */
export interface OwnedSchema {
  document: SchemaDocument;
  /** '' = the installation. */
  tenant: string;
}

/**
 * Registered JSON Schemas. Each belongs to the tenant that wrote it first, or to the installation; a schema without an owner
 * belongs to the installation. See docs/reference/routing.md#schemas.
 */
export class SchemaRepository {
  constructor(private readonly redis: Redis) {}

  /** @param scope sets the owner of a new schema: the tenant, or the installation for every tenant */
  async write(
    scope: TenantScope,
    { id, document, alias = '', maxSchemas, nowUs }: SchemaWrite,
  ): Promise<SchemaOutcome> {
    const hash = canonicalHash(document);
    const args = [id, scope, JSON.stringify(document), alias, maxSchemas, limits.tenantSchemas, nowUs, hash];
    describeAct({}, { after_hash: hash });
    const reply = await runScript(this.redis, 'writeSchema', keys.schema(id), ...args);
    const [kind, detail = ''] = reply as [SchemaOutcome['kind'], string?];
    switch (kind) {
      case 'full':
      case 'tenant_full':
        return { kind, count: Number(detail) };
      case 'alias_taken':
        return { kind, by: detail };
      case 'created':
      case 'replaced':
      case 'other_tenant':
        return { kind };
    }
  }

  async remove(scope: TenantScope, id: string): Promise<'removed' | 'missing' | 'other_tenant'> {
    const reply = await runScript(this.redis, 'removeSchema', keys.schema(id), id, scope);
    return (reply as ['removed' | 'missing' | 'other_tenant'])[0];
  }

  /** A schema of the scope or of the installation. */
  async read(scope: TenantScope, id: string): Promise<OwnedSchema | undefined> {
    const [document, tenant] = await this.redis.hmget(keys.schema(id), 'document', 'tenant');
    if (!document) return undefined;
    const owner = tenant ?? '';
    const isVisible = owner === '' || scope === everyTenant || scope === owner;
    return isVisible ? { document: JSON.parse(document) as SchemaDocument, tenant: owner } : undefined;
  }

  /**
   * Resolves an `$id` for the schemas of an owner: its own schemas take precedence over those of the installation.
   *
   * @param tenant '' = the installation
   */
  async readByAlias(tenant: string, alias: string): Promise<SchemaDocument | undefined> {
    const [own, shared] = await Promise.all([
      tenant === '' ? null : this.redis.hget(keys.schemaAliasesOf(tenant), alias),
      this.redis.hget(keys.schemaAliases(), alias),
    ]);
    const id = own ?? shared;
    return id ? (await this.read(tenant, id))?.document : undefined;
  }

  /** Ids of the schemas of the scope and of the installation, newest first. */
  async ids(scope: TenantScope, limit: number): Promise<string[]> {
    const tenants = scope === everyTenant ? keys.tenantSchemas() : keys.schemasOf(scope);
    const pages = await Promise.all(
      [keys.schemas(), tenants].map((index) => this.redis.zrevrange(index, 0, limit - 1, 'WITHSCORES')),
    );
    return pages
      .flatMap((page) => pairsIn(page))
      .sort((a, b) => b.writtenUs - a.writtenUs || (a.id < b.id ? 1 : -1))
      .slice(0, limit)
      .map(({ id }) => id);
  }
}

/** Members and scores, which Redis returns alternately. */
const pairsIn = (page: readonly string[]): { id: string; writtenUs: number }[] =>
  page.flatMap((id, i) => (i % 2 === 0 ? [{ id, writtenUs: Number(page[i + 1]) }] : []));
