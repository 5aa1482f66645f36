import type { ConfigPlace } from '@svc/settings';
import type { JobRecord, StoredRequest } from '@svc/store';
import { type StepJob, toWorkflowStep } from './workflow-step';

/**
 * The config scope of a job: its tenant and team and, for jobs that the engine created, its workflow and step. The items of a
 * fan-out have the scope of their step.
 *
 * @param narrowest the last layer whose document applies
 */
export function toConfigScope(
  job: StepJob & Pick<JobRecord, 'tenant'> & { request: Pick<StoredRequest, 'team_id'> },
  narrowest: 'team' | 'workflow' | 'step' = 'step',
): ConfigPlace {
  const team = { tenant: job.tenant, team: job.request.team_id };
  if (narrowest === 'team') return team;
  const { workflow, step } = toWorkflowStep(job);
  return narrowest === 'workflow' ? { ...team, workflow } : { ...team, workflow, step: step && withoutIndex(step) };
}

/** `weigh` for the item `weigh[2]`. */
const withoutIndex = (path: string): string => (path.endsWith(']') ? path.slice(0, path.lastIndexOf('[')) : path);
