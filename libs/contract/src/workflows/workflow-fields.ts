import { runStates, stepStates } from '@svc/lifecycle';
import Joi from 'joi';
import { jobId, text } from '../fields';
import { shape } from '../shape';

/** Who may read workflows and their runs, and who may change them. See docs/reference/workflows.md#definitions. */
export const readWorkflows = { permission: 'workflows.read', roles: 'any' } as const;
export const writeWorkflows = { permission: 'workflows.write', roles: ['admin'] } as const;
export const workflowId = Joi.string().min(1).max(256).description('Workflow id.');
export const time = (description: string) => Joi.string().isoDate().description(description);
export const runId = jobId.description('Run id.');
export const stepId = text('Step id; with the index of the item in brackets for a part of a fan-out.');

/** See docs/reference/workflows.md#runs. */
export const runStatuses = runStates.states;
export const stepStatuses = stepStates.states;

export interface RunErrorView {
  message: string;
  code?: string;
}
export const runError = shape<RunErrorView>({
  required: { message: text('What went wrong.') },
  optional: { code: text('In a word.') },
});
