import { recordRefusal, type RefusedAgent } from '@svc/agents';
import { failJob, type JobFailure, transitionAndPublish } from '@svc/jobs';
import type { JobRecord } from '@svc/store';
import type { SchedulingDeps } from './scheduling-deps';

/** Ends a job that its agent may not run, before its dispatch. Jobs of an agent that is stopped are cancelled. */
export async function refuseAgent(deps: SchedulingDeps, job: JobRecord, refused: RefusedAgent): Promise<undefined> {
  const { reason } = refused;
  if (reason === 'agent_inactive') {
    const intent = JSON.stringify({ result: 'CANCELLED', cancel: 'the agent was stopped' });
    await transitionAndPublish(deps, job, 'cancel', { unset: ['waiting_reason'], intent });
    return;
  }
  const isDelegation = 'isDelegation' in refused;
  const ending: JobFailure = {
    // RETRYING has no transition to DENIED, because the job was dispatched before. See docs/reference/jobs.md#states.
    event: job.state === 'RETRYING' ? 'refuse' : 'deny',
    code: isDelegation ? `delegation.${reason}_before_dispatch` : 'agent_denied',
    message: `${isDelegation ? 'its delegation' : 'its agent'} does not permit the job: ${reason}`,
    result: 'DENIED',
  };
  const type = isDelegation ? 'delegation.revoked_before_dispatch' : 'agent.denied';
  // After a crash here the refusal is missing in the list of the agent; the job and the audit of its end are complete.
  if (await failJob(deps, job, ending)) await recordRefusal(deps, job, reason, { type });
}
