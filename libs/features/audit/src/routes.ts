import * as contract from '@svc/contract';
import { handlersFor } from '@svc/http';
import { listPolicyAudit } from './policy-audit';

/** Dependencies of these handlers. */
export interface AuditContext {
  policyDocuments: Parameters<typeof listPolicyAudit>[0];
}

const handle = handlersFor<AuditContext>();

/** The audit of policy changes. */
export const auditRoutes = [
  handle(contract.policyAudit, ({ query, caller, ctx }) => listPolicyAudit(ctx.policyDocuments, caller, query)),
];
