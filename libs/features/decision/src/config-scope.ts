import type { ConfigPlace } from '@svc/settings';
import type { JobRecord } from '@svc/store';
import { toWorkflowStep } from './workflow-step';

/**
 * The config scope of a job: its tenant and team and, for jobs that the engine created, its workflow and step.
 *
 * @param narrowest the last layer whose document applies
 */
export function toConfigScope(
  job: Pick<JobRecord, 'tenant' | 'run' | 'request'>,
  narrowest: 'team' | 'workflow' | 'step' = 'step',
): ConfigPlace {
  const team = { tenant: job.tenant, team: job.request.team_id };
  if (narrowest === 'team') return team;
  const { workflow, step } = toWorkflowStep(job);
  return narrowest === 'workflow' ? { ...team, workflow } : { ...team, workflow, step };
}
