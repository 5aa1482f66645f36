import type { Blocker, ExplainedAgent, JobBlocker, Owner } from '@svc/contract';
import { type JobFacts, getStage } from './job-facts';
import { blocked, type CheckResult, notReached, passed } from './run-job-checks';

/** Whether its agent, as it is now, may run it. See docs/reference/agents.md#scope. */
export function checkJobAgent({ job, agent }: JobFacts): CheckResult {
  if (!agent) return passed('it has no agent');
  const id = job.request.agent_id ?? '';
  const owner: Owner = { kind: 'agent', id, value: agent.record?.agent.status ?? 'unknown' };
  const stage = getStage(job);
  if (stage === 'ended') return passed(`it was a job of the agent ${id}`, owner);
  const { check } = agent;
  if (check.kind === 'permitted') return passed(`its agent ${id} permits it`, owner);
  // Changes of a scope concern what is not dispatched yet; the stop of an agent cancels what runs.
  if (stage === 'dispatched') return notReached('its agent is checked before each dispatch', owner);
  const blocker: Blocker<JobBlocker> = {
    kind: 'agent_refused',
    what: `${getRefuser(check)} does not permit it: ${check.reason}; it ends ${check.reason === 'agent_inactive' ? 'CANCELLED' : 'DENIED'} when it is next decided`,
    owner: 'isDelegation' in check ? { kind: 'delegation', id: job.delegation?.jti ?? '' } : owner,
    how:
      'isDelegation' in check
        ? 'submit a new job with a delegation that permits it'
        : 'an admin must change status or scope of the agent',
    clears_at: null,
  };
  return stage === 'queued' ? blocked(blocker) : { kind: 'ahead', blocker };
}

const getRefuser = (check: object): string => ('isDelegation' in check ? 'its delegation' : 'its agent');

/** The agent of the job, and the refusal that the job would get now. */
export function describeAgent({ job, agent }: JobFacts): ExplainedAgent | undefined {
  if (!agent) return undefined;
  const { record, check } = agent;
  return {
    agent_id: job.request.agent_id ?? '',
    status: record?.agent.status ?? 'unknown',
    ...(record && { name: record.agent.name, risk_tier: record.agent.risk_tier }),
    ...(job.delegation && { delegation: job.delegation.jti }),
    ...(check.kind === 'refused' && {
      refusal: { by: 'isDelegation' in check ? ('delegation' as const) : ('agent' as const), reason: check.reason },
    }),
  };
}
