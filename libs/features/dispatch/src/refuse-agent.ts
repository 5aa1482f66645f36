import { recordRefusal } from '@svc/agents';
import { failJob, type JobFailure, transitionAndPublish } from '@svc/jobs';
import type { JobRecord } from '@svc/store';
import type { SchedulingDeps } from './scheduling-deps';

/** Ends a job that its agent may not run, before its dispatch. Jobs of an agent that is stopped are cancelled. */
export async function refuseAgent(deps: SchedulingDeps, job: JobRecord, reason: string): Promise<undefined> {
  if (reason === 'agent_inactive') {
    const intent = JSON.stringify({ result: 'CANCELLED', cancel: 'the agent was stopped' });
    await transitionAndPublish(deps, job, 'cancel', { unset: ['waiting_reason'], intent });
    return;
  }
  const ending: JobFailure = {
    // RETRYING has no transition to DENIED, because the job was dispatched before. See docs/reference/jobs.md#states.
    event: job.state === 'RETRYING' ? 'refuse' : 'deny',
    code: 'agent_denied',
    message: `the agent may not run this job: ${reason}`,
    result: 'DENIED',
  };
  // After a crash here the refusal is missing in the list of the agent; the job and the audit of its end are complete.
  if (await failJob(deps, job, ending)) await recordRefusal(deps, job, reason);
}
