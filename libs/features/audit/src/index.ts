/** The audit chains of tenants, and the record of policy changes and calls, each written with the change it records. */
export { openAudit, type Audit } from './open-audit';
export { openAuditExport, type AuditExport } from './open-audit-export';
export { eventFilter, toEventView } from './chain/read-events';
export { chainTenant, readTime } from './chain/chain-scope';
export { Sealer } from './chain/sealer';
export { toSignInAct } from './sign-ins/sign-in-act';
export { ExportMemory } from './export/kept-rows';
export { openTree } from './chain/tree';
export { type ReadWitnesses, verifier, verifyNewest, verifyWhole, type VerifyDeps } from './chain/verify-chain';
export {
  auditEntry,
  buildAudit,
  listPolicyAudit,
  type PolicyAuditDeps,
  type PolicyChange,
  recordPolicyCall,
} from './policy-audit';
export { auditRoutes, type AuditContext } from './routes';
