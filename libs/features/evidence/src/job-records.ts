import type { Store, ApprovalRecord, DecisionRecord, JobRecord } from '@svc/store';
import { evidenceLimits } from '@svc/evidence-format';
import { publicLabels } from '@svc/jobs';

/** What the records of jobs say, as far as they are still kept. */
export interface JobEvidence {
  jobs: JobRecord[];
  records: object[];
  decisions: ({ job_id: string } & DecisionRecord)[];
  approvals: ({ job_id: string } & ApprovalRecord)[];
  /** Jobs whose record has expired, and jobs over the limit of a bundle. */
  missing: string[];
}

const AT_ONCE = 32;
const MAX_DECISIONS = 50;

/** Reads the records of jobs of a tenant. */
export async function readJobs(
  { jobs }: Pick<Store, 'jobs'>,
  tenant: string,
  ids: readonly string[],
): Promise<JobEvidence> {
  const evidence: JobEvidence = { jobs: [], records: [], decisions: [], approvals: [], missing: [] };
  for (let i = 0; i < ids.length; i += AT_ONCE) {
    const some = ids.slice(i, i + AT_ONCE);
    const found = await Promise.all(some.map((id) => readJob(jobs, tenant, id, i < evidenceLimits.jobs)));
    for (const [k, one] of found.entries()) {
      if (one) addJob(evidence, one);
      else evidence.missing.push(some[k] ?? '');
    }
  }
  return evidence;
}

interface ReadJob {
  job: JobRecord;
  history: object[];
  decisions: DecisionRecord[];
}

async function readJob(
  jobs: Store['jobs'],
  tenant: string,
  id: string,
  isWithinLimit: boolean,
): Promise<ReadJob | undefined> {
  if (!isWithinLimit) return undefined;
  const [found, history, decisions] = await Promise.all([
    jobs.get(tenant, id),
    jobs.events(id),
    jobs.decisions(id, MAX_DECISIONS),
  ]);
  return found.kind === 'found' ? { job: found.job, history, decisions } : undefined;
}

function addJob(evidence: JobEvidence, { job, history, decisions }: ReadJob): void {
  const { id: job_id, approval } = job;
  evidence.jobs.push(job);
  evidence.records.push({ ...describeJob(job), history });
  evidence.decisions.push(...decisions.map((decision) => ({ job_id, ...decision })));
  if (approval) evidence.approvals.push({ job_id, ...approval });
}

/** Who asked for what, and what became of it. Times in µs. */
function describeJob(job: JobRecord): object {
  const { request, output_safety: output } = job;
  return {
    id: job.id,
    tenant: job.tenant,
    topic: job.topic,
    state: job.state,
    trace_id: job.trace_id,
    created_at: job.created_at,
    updated_at: job.updated_at,
    started_at: job.started_at,
    completed_at: job.completed_at,
    attempts: job.attempts,
    job_hash: job.job_hash,
    submitter: job.submitter,
    principal_id: request.principal_id,
    actor_id: request.actor_id,
    agent_id: request.agent_id,
    team_id: request.team_id,
    capability: request.capability,
    risk_tags: request.risk_tags,
    requires: request.requires,
    labels: publicLabels(request.labels),
    idempotency_key: request.idempotency_key,
    parent_job_id: request.parent_job_id,
    run_id: job.run,
    step: job.run_path,
    workflow_author: job.author,
    worker_id: job.worker_id,
    pool: job.pool,
    error_code: job.error_code,
    error_message: job.error_message,
    cost_micros: job.cost,
    policy_snapshot: job.safety_snapshot,
    output_safety: output && {
      decision: output.decision,
      rule_id: output.rule_id,
      reason: output.reason,
      policy_snapshot: output.policy_snapshot,
      phase: output.phase,
      checked_at: output.checked_at,
      released_at: output.released_at,
      released_by: output.released_by,
      release_reason: output.release_reason,
      confirmed_at: output.confirmed_at,
      confirmed_by: output.confirmed_by,
    },
  };
}
