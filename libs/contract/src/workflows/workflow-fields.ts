import { runStates, stepStates } from '@svc/lifecycle';
import Joi from 'joi';
import { jobId, text } from '../fields';
import { shape } from '../shape';

/** Permissions to read and to change workflows and their runs. See docs/reference/workflows.md#definitions. */
export const readWorkflows = { permission: 'workflows.read', roles: 'any' } as const;
export const writeWorkflows = { permission: 'workflows.write', roles: ['admin'] } as const;
export const workflowId = Joi.string().min(1).max(256).description('Workflow id.');
export const time = (description: string) => Joi.string().isoDate().description(description);
export const runId = jobId.description('Run id.');
export const stepId = text('Step id; for an item of a fan-out with its index in brackets.');

/** See docs/reference/workflows.md#runs. */
export const runStatuses = runStates.states;
export const stepStatuses = stepStates.states;

export interface RunErrorView {
  message: string;
  code?: string;
}
export const runError = shape<RunErrorView>({
  required: { message: text('Error message.') },
  optional: { code: text('Error code.') },
});
