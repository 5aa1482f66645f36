import { AppError, type SchemaView } from '@svc/contract';
import type { Store } from '@svc/store';

/** Ids of the registered schemas, newest first. Core contract 10. */
export const listSchemas = async ({ store }: { store: Store }, limit: number): Promise<{ schemas: string[] }> => ({
  schemas: await store.schemas.ids(limit),
});

/** @throws config_schema_not_found */
export async function getSchema({ store }: { store: Store }, id: string): Promise<SchemaView> {
  const schema = await store.schemas.read(id);
  if (!schema) throw new AppError('config_schema_not_found');
  return { id, schema };
}
