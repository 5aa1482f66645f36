import type { Route } from '@svc/http';
import type { ApiContext } from '../context';
import { approve } from './approvals/approve';
import { context as approvalContext } from './approvals/context';
import { list as listApprovals } from './approvals/list';
import { reject } from './approvals/reject';
import { repair as repairApproval } from './approvals/repair';
import { get as getArtifact } from './artifacts/get';
import { put as putArtifact } from './artifacts/put';
import { read as readBudgets } from './budgets/read';
import { effective as effectiveConfig } from './config/effective';
import { get as getConfig } from './config/get';
import { post as postConfig } from './config/post';
import { put as putConfig } from './config/put';
import { putArtifact as putJobArtifact } from './data/putArtifact';
import { putResult as putJobResult } from './data/putResult';
import { readInput as readJobInput } from './data/readInput';
import { list as listDeadLetters } from './dlq/list';
import { page as pageDeadLetters } from './dlq/page';
import { release as releaseDeadLetter } from './dlq/release';
import { remove as removeDeadLetter } from './dlq/remove';
import { retry as retryDeadLetter } from './dlq/retry';
import { api } from './health/api';
import { health } from './health/health';
import { healthz } from './health/healthz';
import { livez } from './health/livez';
import { readyz } from './health/readyz';
import { cancel } from './jobs/cancel';
import { decisions } from './jobs/decisions';
import { explain as explainJob } from './jobs/explain';
import { get as getJob } from './jobs/get';
import { list as listJobs } from './jobs/list';
import { remediate } from './jobs/remediate';
import { submit } from './jobs/submit';
import { read as readMemory } from './memory/read';
import { analytics as analysePolicy } from './policy/analytics';
import { evaluate as evaluatePolicy } from './policy/evaluate';
import { explain as explainPolicy } from './policy/explain';
import { replay as replayPolicy } from './policy/replay';
import { simulate as simulatePolicy } from './policy/simulate';
import { simulateBundle } from './policy/simulateBundle';
import { snapshots as policySnapshots } from './policy/snapshots';
import { audit as policyAudit } from './policy/audit';
import { getBundle } from './policy/getBundle';
import { listBundles } from './policy/listBundles';
import { putBundle } from './policy/putBundle';
import { getSnapshot } from './policy/getSnapshot';
import { listSnapshots } from './policy/listSnapshots';
import { publish } from './policy/publish';
import { rollback } from './policy/rollback';
import { takeSnapshot } from './policy/takeSnapshot';
import { listOutputRules } from './policy/listOutputRules';
import { listRules } from './policy/listRules';
import { outputStats } from './policy/outputStats';
import { putOutputRule } from './policy/putOutputRule';
import { addVelocityRule } from './policy/addVelocityRule';
import { listVelocityRules } from './policy/listVelocityRules';
import { putVelocityRule } from './policy/putVelocityRule';
import { removeVelocityRule } from './policy/removeVelocityRule';
import { getGlobal } from './policy/getGlobal';
import { putGlobal } from './policy/putGlobal';
import { velocityStats } from './policy/velocityStats';
import { removeBundle } from './policy/removeBundle';
import { getShadow } from './policy/getShadow';
import { putShadow } from './policy/putShadow';
import { removeShadow } from './policy/removeShadow';
import { shadowComparisons } from './policy/shadowComparisons';
import { shadowSummary } from './policy/shadowSummary';
import { shadowTimeseries } from './policy/shadowTimeseries';
import { get as getPool } from './pools/get';
import { list as listPools } from './pools/list';
import { cancel as cancelRun } from './runs/cancel';
import { chat as readChat } from './runs/chat';
import { explain as explainRun } from './runs/explain';
import { get as getRun } from './runs/get';
import { list as listRuns } from './runs/list';
import { ofWorkflow as runsOfWorkflow } from './runs/ofWorkflow';
import { remove as removeRun } from './runs/remove';
import { rerun as rerunRun } from './runs/rerun';
import { say as sayInChat } from './runs/say';
import { signal as signalRun } from './runs/signal';
import { start as startRun } from './runs/start';
import { timeline as runTimeline } from './runs/timeline';
import { add as addSchedule } from './schedules/add';
import { get as getSchedule } from './schedules/get';
import { list as listSchedules } from './schedules/list';
import { pause as pauseSchedule } from './schedules/pause';
import { put as putSchedule } from './schedules/put';
import { remove as removeSchedule } from './schedules/remove';
import { resume as resumeSchedule } from './schedules/resume';
import { get as getSchema } from './schemas/get';
import { list as listSchemas } from './schemas/list';
import { put as putSchema } from './schemas/put';
import { remove as removeSchema } from './schemas/remove';
import { get as getStatus } from './status/get';
import { list as listTopics } from './topics/list';
import { register as registerTopic } from './topics/register';
import { remove as removeTopic } from './topics/remove';
import { get as getTrace } from './traces/get';
import { get as getWorker } from './workers/get';
import { jobs as workerJobs } from './workers/jobs';
import { list as listWorkers } from './workers/list';
import { dryRun as dryRunWorkflow } from './workflows/dryRun';
import { get as getWorkflow } from './workflows/get';
import { list as listWorkflows } from './workflows/list';
import { put as putWorkflow } from './workflows/put';
import { remove as removeWorkflow } from './workflows/remove';
import { version as workflowVersion } from './workflows/version';
import { versions as workflowVersions } from './workflows/versions';

/** Every handler. */
export const routes: readonly Route<ApiContext>[] = [
  ...[submit, getJob, explainJob, listJobs, cancel, decisions, remediate, getTrace],
  ...[healthz, readyz, livez, health, api],
  ...[listApprovals, approve, reject, repairApproval, approvalContext],
  ...[listDeadLetters, pageDeadLetters, removeDeadLetter, retryDeadLetter, releaseDeadLetter],
  ...[putArtifact, getArtifact, readMemory],
  ...[readJobInput, putJobResult, putJobArtifact],
  ...[listWorkers, getWorker, workerJobs, listPools, getPool],
  ...[listTopics, registerTopic, removeTopic],
  ...[evaluatePolicy, simulatePolicy, explainPolicy, policySnapshots, simulateBundle, replayPolicy, analysePolicy],
  ...[putSchema, listSchemas, getSchema, removeSchema],
  ...[getConfig, effectiveConfig, putConfig, postConfig, readBudgets],
  ...[listWorkflows, getWorkflow, putWorkflow, removeWorkflow, workflowVersions, workflowVersion, dryRunWorkflow],
  ...[startRun, runsOfWorkflow, listRuns, getRun, runTimeline, removeRun, rerunRun, cancelRun],
  ...[readChat, sayInChat, signalRun, explainRun],
  ...[listSchedules, addSchedule, getSchedule, putSchedule, pauseSchedule, resumeSchedule, removeSchedule],
  ...[listBundles, getBundle, putBundle, removeBundle, policyAudit],
  ...[getShadow, putShadow, removeShadow, shadowSummary, shadowComparisons, shadowTimeseries],
  ...[listRules, listOutputRules, putOutputRule, outputStats],
  ...[listVelocityRules, addVelocityRule, putVelocityRule, removeVelocityRule, velocityStats],
  ...[getGlobal, putGlobal],
  ...[takeSnapshot, listSnapshots, getSnapshot, publish, rollback],
  getStatus,
];
