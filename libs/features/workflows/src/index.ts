/** Workflow definitions, runs and schedules. */
export { type DryRunDeps, dryRunWorkflow } from './definitions/dry-run';
export { getRevision, getWorkflow, listRevisions, listWorkflows } from './definitions/read-workflows';
export { removeWorkflow, type RemoveWorkflowDeps } from './definitions/remove-workflow';
export { saveWorkflow, type SaveWorkflowDeps } from './definitions/save-workflow';
export { ChatRepository } from './runs/chat.repository';
export { cancelRun } from './runs/cancel-run';
export { DefinitionCache } from './runs/definition-cache';
export { fireDueTimers, fireTimer, removeExpiredRuns, repairRuns } from './runs/repair-runs';
export { requireFound } from './definitions/read-workflows';
export { awaitRunEnd, listRuns, runsOfWorkflow, runTimeline } from './runs/read-runs';
export { removeRun } from './runs/remove-run';
export { rerunRun } from './runs/rerun-run';
export { readChat, postChatMessage } from './runs/run-chat';
export { toRunState } from './runs/run-codec';
export type { RunDeps, RunEvents, StartRunDeps, TurnDeps } from './runs/run-deps';
export { RunCache } from './runs/run-cache';
export { runPass } from './runs/run-pass';
export { toLoadedRunView, toTimelineView } from './runs/run-view';
export { WokenRuns } from './runs/woken-runs';
export { signalRun } from './runs/signal-run';
export { findRunAgent } from './runs/run-agent';
export { type RunStart, startRun, startUnattended } from './runs/start-run';
export { fireSchedule, type FireScheduleDeps } from './schedules/fire-schedule';
export { getSchedule, listSchedules } from './schedules/read-schedules';
export { removeSchedule } from './schedules/remove-schedule';
export {
  addSchedule,
  pauseSchedule,
  putSchedule,
  resumeSchedule,
  type SaveScheduleDeps,
} from './schedules/save-schedule';
export { sweepSchedules } from './schedules/sweep-schedules';
export { runRoutes, type RunContext } from './runs/routes';
export { scheduleRoutes, type ScheduleContext } from './schedules/routes';
export { workflowRoutes, type WorkflowContext } from './definitions/routes';
