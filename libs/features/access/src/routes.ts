import * as contract from '@svc/contract';
import { handlersFor } from '@svc/http';
import type { AccessDeps } from './access-deps';
import { createApiKey, listApiKeys, revokeApiKey } from './api-keys';
import { listCallerPermissions } from './caller-permissions';
import { getRole, listRoles } from './read-roles';
import { putRole, removeRole } from './write-roles';

/** Dependencies of these handlers. */
export interface AccessContext {
  access: AccessDeps;
}

const handle = handlersFor<AccessContext>();

/** API keys, roles, and what callers may do. */
export const accessRoutes = [
  handle(contract.listApiKeys, ({ caller, ctx }) => listApiKeys(ctx.access, caller)),
  handle(contract.createApiKey, ({ body, caller, ctx }) => createApiKey(ctx.access, caller, body)),
  handle(contract.revokeApiKey, ({ params, caller, ctx }) => revokeApiKey(ctx.access, caller, params.id)),
  handle(contract.listRoles, ({ ctx }) => listRoles(ctx.access)),
  handle(contract.getRole, ({ params, ctx }) => getRole(ctx.access, params.name)),
  handle(contract.putRole, ({ params, body, caller, ctx }) => putRole(ctx.access, caller, params.name, body)),
  handle(contract.removeRole, ({ params, caller, ctx }) => removeRole(ctx.access, caller, params.name)),
  handle(contract.listCallerPermissions, async ({ caller, ctx }) => listCallerPermissions(ctx.access, caller)),
];
