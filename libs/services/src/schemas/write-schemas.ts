import { AppError, type SchemaView } from '@svc/contract';
import { compileSchema, idOf, type Violation } from '@svc/schema';
import type { Store } from '@svc/store';
import { announceChange, type AnnounceDeps } from '../config/announce-change';
import { readEntries } from '../topics/registration';
import { readTopics, type DocumentDeps } from '../topics/topics-document';

export type SchemaWriteDeps = DocumentDeps &
  AnnounceDeps & {
    store: Store;
    /** Of the license in force; 0 and -1 = any number. Identity contract 9.3. */
    maxSchemas(): number;
  };

const schemasScope = { scope: 'system', scope_id: 'schemas' } as const;
/** They would be the keys of the index and of the aliases. */
const reserved = ['index', 'aliases'];

/**
 * Registers a schema, or replaces the one of the same id. Schemas that it refers to may come later. Core contract 10.
 *
 * @throws config_schema_violation, tier_limit_exceeded
 */
export async function putSchema(deps: SchemaWriteDeps, { id, schema }: SchemaView): Promise<void> {
  if (reserved.includes(id))
    throw refused([{ path: '$', message: `the id ${id} is taken by the service: choose another` }]);
  const compilation = compileSchema(schema, new Map());
  if (compilation.kind === 'invalid') throw refused(compilation.violations);
  const alias = idOf(schema);
  const most = deps.maxSchemas();
  const nowUs = deps.clock.nowUs();
  const outcome = await deps.store.schemas.write({ id, document: schema, ...(alias && { alias }), most, nowUs });
  if (outcome.kind === 'alias_taken') {
    throw refused([
      { path: '/$id', message: `is the $id of schema ${outcome.by} already: choose another, or remove that one first` },
    ]);
  }
  if (outcome.kind === 'full') throw full(outcome.count, most);
  // Should we die here, replicas find the change by themselves within 30 s.
  await announceChange(deps, schemasScope);
}

const refused = (violations: Violation[]) => new AppError('config_schema_violation', { violations });

const full = (current: number, allowed: number) =>
  new AppError('tier_limit_exceeded', {
    message: `there are ${current} schemas and the plan allows ${allowed}`,
    limit: 'max_schema_count',
    current,
    allowed,
    upgrade_url: '',
  });

/**
 * Removes a schema that no topic uses; that there is none is no fault. A topic registered with it at the same moment would
 * then name a schema that is missing, and its jobs are told so.
 *
 * @throws config_schema_in_use
 */
export async function removeSchema(deps: SchemaWriteDeps, id: string): Promise<void> {
  const { entries } = readEntries(await readTopics(deps));
  const users = entries.filter((entry) => entry.input_schema_id === id || entry.output_schema_id === id);
  if (users.length > 0) throw new AppError('config_schema_in_use');
  // Dying in between is harmless, as above.
  if (await deps.store.schemas.remove(id)) await announceChange(deps, schemasScope);
}
