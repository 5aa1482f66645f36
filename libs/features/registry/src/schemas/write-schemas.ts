import { AppError, everyTenant, managedScope, tierLimit, type Caller, type SchemaView } from '@svc/contract';
import { compileSchema, getSchemaId, type Violation } from '@svc/schema';
import { announceChange, type AnnounceDeps } from '@svc/settings';
import { readEntries } from '../topics/registration';
import { type DocumentDeps, readTopics } from '../topics/topics-document';
import type { SchemaReadDeps } from './read-schemas';

export type SchemaWriteDeps = DocumentDeps &
  AnnounceDeps &
  SchemaReadDeps & {
    /** From the license in effect; 0 and -1 = unlimited. See docs/operations.md#license. */
    maxSchemas(): number;
  };

const schemasScope = { scope: 'system', scope_id: 'schemas' } as const;
/** Reserved for the keys of the index and of the aliases. */
const reserved = ['index', 'aliases'];

/**
 * Registers a schema, or replaces the one with the same id. Schemas that it refers to may be registered later. The first
 * write sets the owner: the caller's tenant, or the installation for callers who act for all tenants.
 * See docs/reference/routing.md#schemas.
 *
 * @throws config_schema_violation, tenant_access_denied, tier_limit_exceeded
 */
export async function putSchema(deps: SchemaWriteDeps, caller: Caller, { id, schema }: SchemaView): Promise<void> {
  if (reserved.includes(id)) throw refused([{ path: '$', message: `the id ${id} is reserved: choose another` }]);
  const compilation = compileSchema(schema, new Map());
  if (compilation.kind === 'invalid') throw refused(compilation.violations);
  const alias = getSchemaId(schema);
  const maxSchemas = deps.maxSchemas();
  const nowUs = deps.clock.nowUs();
  const scope = managedScope(caller, deps.defaultTenant);
  const write = { id, document: schema, ...(alias && { alias }), maxSchemas, nowUs };
  const outcome = await deps.store.schemas.write(scope, write);
  if (outcome.kind === 'other_tenant') throw new AppError('tenant_access_denied');
  if (outcome.kind === 'alias_taken') {
    throw refused([
      {
        path: '/$id',
        message: `is already the $id of schema ${outcome.by}: choose another, or remove that schema first`,
      },
    ]);
  }
  if (outcome.kind === 'tenant_full') {
    const message = `this tenant already has ${outcome.count} schemas: remove one that no topic uses`;
    throw refused([{ path: '$', message }]);
  }
  if (outcome.kind === 'full') throw full(outcome.count, maxSchemas);
  // After a crash here, replicas find the change by themselves within 30 s.
  await announceChange(deps, schemasScope);
}

const refused = (violations: Violation[]) => new AppError('config_schema_violation', { violations });

const full = (current: number, allowed: number) =>
  tierLimit({
    message: `there are ${current} schemas and the plan allows ${allowed}`,
    limit: 'max_schema_count',
    current,
    allowed,
  });

/**
 * Removes a schema that no topic uses; removing one that does not exist is a no-op. Topics of other tenants cannot use the
 * schema of a tenant, so they do not prevent its removal. Jobs of a topic that is concurrently registered with it fail
 * with `schema_not_found`.
 *
 * @throws config_schema_in_use, tenant_access_denied
 */
export async function removeSchema(deps: SchemaWriteDeps, caller: Caller, id: string): Promise<void> {
  const scope = managedScope(caller, deps.defaultTenant);
  const { entries } = readEntries(await readTopics(deps));
  const isUsed = entries.some(
    (entry) =>
      (scope === everyTenant || entry.tenant_id === scope) &&
      (entry.input_schema_id === id || entry.output_schema_id === id),
  );
  if (isUsed) throw new AppError('config_schema_in_use');
  const outcome = await deps.store.schemas.remove(scope, id);
  if (outcome === 'other_tenant') throw new AppError('tenant_access_denied');
  // A crash in between is harmless, as above.
  if (outcome === 'removed') await announceChange(deps, schemasScope);
}
