import { AppError, managedScope, type Caller, type SchemaView } from '@svc/contract';
import type { Store } from '@svc/store';

export interface SchemaReadDeps {
  store: Pick<Store, 'schemas'>;
  /** TENANT_ID: callers of this tenant manage the schemas of the installation. */
  defaultTenant: string;
}

/**
 * Ids of the schemas of the caller's tenant and of the installation, newest first.
 * See docs/reference/routing.md#schemas.
 */
export const listSchemas = async (
  { store, defaultTenant }: SchemaReadDeps,
  caller: Caller,
  limit: number,
): Promise<{ schemas: string[] }> => ({
  schemas: await store.schemas.ids(managedScope(caller, defaultTenant), limit),
});

/** @throws config_schema_not_found, also for a schema of another tenant */
export async function getSchema(
  { store, defaultTenant }: SchemaReadDeps,
  caller: Caller,
  id: string,
): Promise<SchemaView> {
  const found = await store.schemas.read(managedScope(caller, defaultTenant), id);
  if (!found) throw new AppError('config_schema_not_found');
  return { id, schema: found.document };
}
