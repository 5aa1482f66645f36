/** The record of policy changes and calls, appended with the change it records. */
export {
  auditEntry,
  buildAudit,
  listPolicyAudit,
  type PolicyAuditDeps,
  type PolicyChange,
  recordPolicyCall,
} from './policy-audit';
export { auditRoutes, type AuditContext } from './routes';
