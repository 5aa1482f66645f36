import * as contract from '@svc/contract';
import { handlersFor } from '@svc/http';
import type { WaitDeps } from '@svc/jobs';
import type { StartRunDeps } from '../runs/run-deps';
import { type DryRunDeps, dryRunWorkflow } from './dry-run';
import { getRevision, getWorkflow, listRevisions, listWorkflows } from './read-workflows';
import { removeWorkflow, type RemoveWorkflowDeps } from './remove-workflow';
import { saveWorkflow, type SaveWorkflowDeps } from './save-workflow';

/** Dependencies of these handlers. */
export interface WorkflowContext {
  runs: StartRunDeps & DryRunDeps & Pick<WaitDeps, 'endings'>;
  workflows: SaveWorkflowDeps & RemoveWorkflowDeps;
}

const handle = handlersFor<WorkflowContext>();

/** Workflow definitions. */
export const workflowRoutes = [
  handle(contract.listWorkflows, ({ query, caller, ctx }) => listWorkflows(ctx.workflows, caller, query.org_id)),
  handle(contract.getWorkflow, ({ params, caller, ctx }) => getWorkflow(ctx.workflows, caller, params.id)),
  handle(contract.putWorkflow, ({ body, caller, ctx }) => saveWorkflow(ctx.workflows, caller, body)),
  handle(contract.removeWorkflow, ({ params, caller, ctx }) => removeWorkflow(ctx.workflows, caller, params.id)),
  handle(contract.workflowVersions, ({ params, query, caller, ctx }) =>
    listRevisions(ctx.workflows, caller, params.id, query.limit),
  ),
  handle(contract.workflowVersion, ({ params, caller, ctx }) =>
    getRevision(ctx.workflows, caller, params.id, Number(params.revision)),
  ),
  handle(contract.dryRunWorkflow, ({ params, body, caller, ctx }) => dryRunWorkflow(ctx.runs, caller, params.id, body)),
];
