/** Held jobs and approval steps: listing, resolution, escalation and repair. */
export { approvalContext } from './approval-context';
export { getDeciderName } from './approval-record';
export { type ApprovalDeps, type ApprovalOutcome, approveJob, rejectJob } from './decide-approval';
export { closeGate, escalateGate, remindGate } from './gates';
export { listApprovals } from './list-approvals';
export { requesterMayResolve, runStarterRule } from './may-resolve';
export { repairApproval } from './repair-approval';
export { isRunOver } from './resolve-held-job';
export { approvalRoutes, type ApprovalContext } from './routes';
