import * as contract from '@svc/contract';
import { handlersFor } from '@svc/http';
import { getSchema, listSchemas } from './read-schemas';
import { putSchema, removeSchema, type SchemaWriteDeps } from './write-schemas';

/** Dependencies of these handlers. */
export interface SchemaContext {
  schemas: SchemaWriteDeps;
}

const handle = handlersFor<SchemaContext>();

/** Schemas. */
export const schemaRoutes = [
  handle(contract.putSchema, ({ body, caller, ctx }) => putSchema(ctx.schemas, caller, body)),
  handle(contract.listSchemas, ({ query, caller, ctx }) => listSchemas(ctx.schemas, caller, query.limit)),
  handle(contract.getSchema, ({ params, caller, ctx }) => getSchema(ctx.schemas, caller, params.id)),
  handle(contract.removeSchema, ({ params, caller, ctx }) => removeSchema(ctx.schemas, caller, params.id)),
];
