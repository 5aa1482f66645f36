import { apiKeyEndpoints } from './access/api-keys';
import { permissionEndpoints } from './access/caller-permissions';
import { roleEndpoints } from './access/roles';
import { agentEndpoints } from './agents/agents';
import { approvalEndpoints } from './approvals/approvals';
import { auditEndpoints } from './audit/audit';
import { evidenceEndpoints } from './audit/evidence';
import { auditDeadLetterEndpoints } from './audit/export-dead-letters';
import { auditExportEndpoints } from './audit/exports';
import { legalHoldEndpoints } from './audit/legal-holds';
import { budgetEndpoints } from './budget/budgets';
import { configEndpoints } from './settings/config';
import { dataEndpoints } from './jobs/data';
import { dataUrlEndpoints } from './jobs/data-urls';
import { dlqEndpoints } from './jobs/dead-letters';
import { fleetEndpoints } from './registry/fleet';
import { poolEndpoints } from './registry/pools';
import { scimEndpoints } from './scim/resources';
import { scimSettingsEndpoints } from './scim/settings';
import { lockEndpoints } from './locks/locks';
import { evalEndpoints } from './evals/endpoints';
import { governanceEndpoints } from './governance/endpoints';
import { policyEvaluateEndpoints } from './policy/evaluate';
import { policyReplayEndpoints } from './policy/replay';
import { jobEndpoints } from './jobs/jobs';
import { schemaEndpoints } from './registry/schemas';
import { authEndpoints } from './users/auth';
import { ownSessionEndpoints } from './users/sessions';
import { totpEndpoints } from './users/totp';
import { userEndpoints } from './users/users';
import { systemEndpoints } from './status/system';
import { topicEndpoints } from './registry/topics';
import { ssoEndpoints } from './sso/sso';
import { streamEndpoints } from './streams/streams';
import { workflowRunEndpoints } from './workflows/runs';
import { workerTrustEndpoints } from './worker-trust/credentials';
import { policyDocumentEndpoints } from './policy/documents';
import { scheduleEndpoints } from './workflows/schedules';
import { definitionEndpoints } from './workflows/workflows';

export * from './access/api-keys';
export * from './access/caller-permissions';
export * from './access/key-scopes';
export * from './access/roles';
export * from './agents/agent-fields';
export * from './agents/agents';
export * from './agents/delegations';
export * from './approvals/approvals';
export * from './users/auth';
export * from './users/sessions';
export * from './users/totp';
export * from './users/user-fields';
export * from './users/users';
export * from './audit/audit';
export * from './audit/evidence';
export * from './audit/export-dead-letters';
export * from './audit/exports';
export * from './audit/legal-holds';
export * from './budget/budgets';
export * from './settings/config';
export * from './jobs/data';
export * from './jobs/data-urls';
export * from './jobs/dead-letters';
export * from './registry/fleet';
export * from './registry/pools';
export * from './worker-trust/credentials';
export {
  explainJob,
  jobBlockers,
  jobChecks,
  type Blocker,
  type EndedBy,
  type ExplainCheck,
  type ExplainedAgent,
  type GivesUp,
  type HeldBy,
  type JobBlocker,
  type JobCheck,
  type JobExplanation,
  type Owner,
} from './explain/job-explain';
import { effectEndpoints } from './effects/effects';
import { licenseEndpoints } from './license/license';
import { telemetryEndpoints } from './telemetry/telemetry';
import { tenantEndpoints } from './tenants/tenants';
export * from './jobs/jobs';
export { explainRun, type ExplainView, type RunWait, type StepExplanation } from './explain/run-explain';
export * from './policy/action';
export * from './policy/evaluate';
export * from './policy/replay';
export * from './policy/documents';
export * from './workflows/run-chat';
export * from './workflows/run-view';
export * from './registry/schemas';
export * from './status/system';
export * from './sso/sso';
export * from './streams/streams';
export * from './registry/topics';
export * from './workflows/runs';
export * from './workflows/schedules';
export * from './workflows/workflows';
export * from './locks/locks';
export * from './scim/resources';
export * from './scim/settings';
export * from './governance/approvals-analytics';
export * from './governance/decisions';
export * from './governance/health';
export * from './governance/insights';
export * from './evals/datasets';
export * from './evals/extraction';
export * from './evals/eval-fields';
export * from './evals/runs';
export * from './evals/comparisons';
export * from './effects/effects';
export * from './license/license';
export * from './tenants/tenants';
export * from './telemetry/telemetry';

/** Every HTTP endpoint of the gateway. */
export const endpoints = [
  ...jobEndpoints,
  ...apiKeyEndpoints,
  ...roleEndpoints,
  ...permissionEndpoints,
  ...authEndpoints,
  ...ownSessionEndpoints,
  ...totpEndpoints,
  ...userEndpoints,
  ...approvalEndpoints,
  ...dlqEndpoints,
  ...dataEndpoints,
  ...dataUrlEndpoints,
  ...fleetEndpoints,
  ...poolEndpoints,
  ...workerTrustEndpoints,
  ...agentEndpoints,
  ...topicEndpoints,
  ...schemaEndpoints,
  ...configEndpoints,
  ...budgetEndpoints,
  ...policyEvaluateEndpoints,
  ...policyReplayEndpoints,
  ...policyDocumentEndpoints,
  ...auditEndpoints,
  ...evidenceEndpoints,
  ...auditExportEndpoints,
  ...auditDeadLetterEndpoints,
  ...legalHoldEndpoints,
  ...definitionEndpoints,
  ...scheduleEndpoints,
  ...workflowRunEndpoints,
  ...streamEndpoints,
  ...systemEndpoints,
  ...lockEndpoints,
  ...evalEndpoints,
  ...governanceEndpoints,
  ...effectEndpoints,
  ...licenseEndpoints,
  ...tenantEndpoints,
  ...telemetryEndpoints,
  ...scimSettingsEndpoints,
  ...scimEndpoints,
  ...ssoEndpoints,
] as const;
