import { approvalEndpoints } from './approvals';
import { budgetEndpoints } from './budgets';
import { configEndpoints } from './config';
import { dataEndpoints } from './data';
import { dataUrlEndpoints } from './data-urls';
import { dlqEndpoints } from './dlq';
import { fleetEndpoints } from './fleet';
import { policyEvaluateEndpoints } from './policy-evaluate';
import { policyReplayEndpoints } from './policy-replay';
import { jobEndpoints } from './jobs';
import { schemaEndpoints } from './schemas';
import { systemEndpoints } from './system';
import { topicEndpoints } from './topics';
import { workflowRunEndpoints } from './workflow-runs';
import { policyDocumentEndpoints } from './policy-documents';
import { scheduleEndpoints } from './workflow-schedules';
import { definitionEndpoints } from './workflows';

export * from './approvals';
export * from './budgets';
export * from './config';
export * from './data';
export * from './data-urls';
export * from './dlq';
export * from './fleet';
export {
  explainJob,
  jobBlockers,
  jobChecks,
  type Blocker,
  type EndedBy,
  type ExplainCheck,
  type GivesUp,
  type HeldBy,
  type JobBlocker,
  type JobCheck,
  type JobExplanation,
  type Owner,
} from './job-explain';
export * from './jobs';
export { explainRun, type ExplainView, type RunWait, type StepExplanation } from './run-explain';
export * from './policy-action';
export * from './policy-evaluate';
export * from './policy-replay';
export * from './policy-documents';
export * from './run-chat';
export * from './run-view';
export * from './schemas';
export * from './system';
export * from './topics';
export * from './workflow-runs';
export * from './workflow-schedules';
export * from './workflows';

/** Every HTTP endpoint of the gateway. */
export const endpoints = [
  ...jobEndpoints,
  ...approvalEndpoints,
  ...dlqEndpoints,
  ...dataEndpoints,
  ...dataUrlEndpoints,
  ...fleetEndpoints,
  ...topicEndpoints,
  ...schemaEndpoints,
  ...configEndpoints,
  ...budgetEndpoints,
  ...policyEvaluateEndpoints,
  ...policyReplayEndpoints,
  ...policyDocumentEndpoints,
  ...definitionEndpoints,
  ...scheduleEndpoints,
  ...workflowRunEndpoints,
  ...systemEndpoints,
] as const;
