import { approveJob, type Owner, type RunWait } from '@svc/contract';
import { isStepEnded } from '@svc/lifecycle';
import { excludesStarter, getGraph, getStepType } from '@svc/workflow';
import { iso } from './job-facts';
import { listDependencies, isComposite, type StepPlace, type RunFacts } from './run-facts';

/** The current wait of a step or item; undefined when it has ended or is a composite. */
export function explainWait(facts: RunFacts, place: StepPlace): RunWait | undefined {
  const { record } = place;
  if (isStepEnded(record.status)) return undefined;
  if (record.queued) return slotWait(facts, place);
  if (record.status === 'pending') return pendingWait(facts, place);
  if (isComposite(place)) return undefined;
  if (record.status === 'waiting') return outsideWait(facts, place);
  if (record.job_id !== undefined) return jobWait(facts, place, record.job_id);
  switch (getStepType(place.def)) {
    case 'delay':
      return timerWait(facts, place);
    case 'subworkflow':
      return childWait(place);
    default:
      return undefined;
  }
}

const since = ({ record }: StepPlace) =>
  record.started_at_ms === undefined ? {} : { since: iso(record.started_at_ms) };
const stepOwner = ({ step, path }: StepPlace, field: string, value?: string | number): Owner => ({
  kind: 'step',
  id: `${step === path ? step : path}.${field}`,
  ...(value !== undefined && { value }),
});
const due = ({ timers }: RunFacts, { path }: StepPlace, purpose: string): string | undefined => {
  const atMs = timers.get(`${path}#${purpose}`);
  return atMs === undefined ? undefined : iso(atMs);
};

/** `resources.max_parallel_steps`. */
function slotWait({ run, maxParallelSteps }: RunFacts, { path }: StepPlace): RunWait {
  return {
    kind: 'slot',
    step_id: path,
    what: `${run.counts.jobs} jobs of the run are live, which is the limit`,
    owner: { kind: 'setting', id: 'resources.max_parallel_steps', value: maxParallelSteps },
    how: 'a job of the run must end; waiting steps start in order',
    clears_at: null,
    under_way: false,
  };
}

function pendingWait(facts: RunFacts, place: StepPlace): RunWait | undefined {
  const { definition, run } = facts;
  const { path, step, record } = place;
  if (record.next_attempt_at_ms !== undefined) {
    return {
      kind: 'retry',
      step_id: path,
      what: `it waits for attempt ${record.attempts + 1}${record.error ? `: ${record.error.message}` : ''}`,
      owner: stepOwner(place, 'retry', place.def.retry?.initial_backoff_sec ?? 1),
      how: 'automatically',
      clears_at: iso(record.next_attempt_at_ms),
      under_way: false,
    };
  }
  const isIdleHandler = getGraph(definition).handles.has(step) && record.handles === undefined;
  if (step !== path || isIdleHandler) return undefined;
  const steps = listDependencies(definition, step).filter((dep) => !run.steps[dep]?.settled);
  if (steps.length === 0) return undefined;
  return {
    kind: 'dependency',
    step_id: path,
    what: `${steps.join(', ')} must end first`,
    owner: stepOwner(place, 'depends_on'),
    how: 'automatically, once they have ended',
    clears_at: null,
    under_way: false,
    steps,
  };
}

/** A person, or a signal. */
function outsideWait(facts: RunFacts, place: StepPlace): RunWait {
  const { run } = facts;
  const { path, step, def } = place;
  const timeout = due(facts, place, 'timeout');
  const atEnd = timeout === undefined ? '' : `, or it times out at ${timeout}`;
  if (getStepType(def) === 'approval') return approvalWait(facts, place, atEnd);
  const name = def.signal ?? step;
  return {
    kind: 'signal',
    step_id: path,
    what: `it waits for the signal ${name}`,
    owner: stepOwner(place, 'signal', name),
    how: `POST /api/v1/workflow-runs/${encodeURIComponent(run.id)}/signals/${encodeURIComponent(name)}${atEnd}`,
    ...since(place),
    clears_at: null,
    under_way: false,
  };
}

/** A gate that approves on expiry clears by itself. See docs/reference/workflows.md#steps. */
function approvalWait(facts: RunFacts, place: StepPlace, atEnd: string): RunWait {
  const { path, step, def, record } = place;
  const { quorum = 1, on_expiry = 'reject', escalate_to } = def.gate ?? {};
  const { job_id: jobId = '', gate } = record;
  const given = gate?.approvals.length ?? 0;
  const expires = due(facts, place, 'expire');
  const escalated = gate?.escalated_to === undefined ? '' : `; it was escalated to ${escalate_to ?? 'no role'}`;
  const who =
    excludesStarter(def) || facts.runStarter === 'deny'
      ? 'a caller who may approve and did not start the run'
      : 'a caller who may approve';
  const expiry = expires === undefined ? atEnd : `; at ${expires} it expires: ${on_expiry}`;
  return {
    kind: 'approval',
    step_id: path,
    what: `${given} of ${quorum} approvals were given${escalated}`,
    owner: { kind: 'gate', id: step, value: quorum },
    how: `POST ${approveJob.path.replace(':job_id', encodeURIComponent(jobId))} (or /reject), by ${who}${expiry}`,
    ...since(place),
    clears_at: on_expiry === 'approve' ? (expires ?? null) : null,
    under_way: false,
    ...(jobId && { job_id: jobId, ...jobState(facts, jobId) }),
  };
}

const jobState = ({ jobs }: RunFacts, id: string) => {
  const job = jobs.get(id);
  return job ? { job_state: job.state } : {};
};

/** Taken from the explanation of its job. */
function jobWait({ jobs, run, position }: RunFacts, place: StepPlace, jobId: string): RunWait {
  const job = jobs.get(jobId);
  const wait = { kind: 'job', step_id: place.path, job_id: jobId, ...since(place) } as const;
  const owner: Owner = { kind: 'step', id: place.path };
  if (!job) {
    const isSubmitted = !Object.hasOwn(run.outbox, jobId);
    const what = isSubmitted ? `its job ${jobId} is live` : `its job ${jobId} is still to be submitted by an engine`;
    return { ...wait, what, owner, how: `GET /api/v1/jobs/${encodeURIComponent(jobId)}/explain has details`, clears_at: null, under_way: isSubmitted || position.lock !== undefined };
  }
  const described = { ...wait, job_state: job.state };
  if (job.blocked_by) {
    const { kind, ...blocker } = job.blocked_by;
    return { ...described, ...blocker, job_blocked_by: kind, under_way: false };
  }
  if (job.ended_by) {
    return { ...described, what: `its job ended ${job.state}, which the run has not processed yet`, owner, how: 'automatically, at the next pass of an engine', clears_at: null, under_way: true };
  }
  return { ...described, what: job.summary, owner: job.held_by ? { kind: 'worker', id: job.held_by.worker_id } : owner, how: 'automatically, when its worker returns a result', clears_at: null, under_way: true };
} // prettier-ignore

function timerWait(facts: RunFacts, place: StepPlace): RunWait {
  const { def } = place;
  const atMs = facts.timers.get(`${place.path}#delay`);
  const value = def.delay_sec ?? def.delay_until ?? def.timeout_sec;
  return {
    kind: 'timer',
    step_id: place.path,
    what:
      atMs === undefined ? 'its timer has fired, which the run has not processed yet' : `it waits until ${iso(atMs)}`,
    owner: stepOwner(place, def.delay_until === undefined ? 'delay_sec' : 'delay_until', value),
    how: 'automatically',
    ...since(place),
    clears_at: atMs === undefined ? null : iso(atMs),
    under_way: false,
  };
}

function childWait(place: StepPlace): RunWait {
  const { child_run_id: id } = place.record;
  return {
    kind: 'child_run',
    step_id: place.path,
    what: id === undefined ? 'its child run is still to be started by an engine' : `run ${id} must end`,
    owner: id === undefined ? { kind: 'service', id: 'engine' } : { kind: 'run', id },
    how: id === undefined ? 'automatically' : `GET /api/v1/workflow-runs/${encodeURIComponent(id)}/explain has details`,
    ...since(place),
    clears_at: null,
    under_way: id !== undefined,
    ...(id !== undefined && { child_run_id: id }),
  };
} // prettier-ignore
