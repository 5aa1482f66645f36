import type { JobRecord, StoredRequest } from '@svc/store';

/** The step of a run that a job executes; every field is absent for a job that no engine created. */
export interface WorkflowStep {
  workflow?: string;
  run?: string;
  step?: string;
}

/** The fields of a job that name its step. */
export type StepJob = Pick<JobRecord, 'run'> & { request: Pick<StoredRequest, 'workflow_id' | 'step_id'> };

/**
 * The workflow, run and step a job belongs to. Only jobs that the engine created are in a run: labels, env and packet
 * fields of the same names are set by the submitter, and must not select a policy, a config document or a timeout.
 */
export function toWorkflowStep({ run, request }: StepJob): WorkflowStep {
  if (run === undefined) return {};
  const { workflow_id: workflow, step_id: step } = request;
  return { run, ...(workflow !== undefined && { workflow }), ...(step !== undefined && { step }) };
}
