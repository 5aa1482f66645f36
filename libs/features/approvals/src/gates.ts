import { alertPacket, subjects } from '@svc/contract';
import type { ApprovalRecord, GateTerms, JobRecord } from '@svc/store';
import { conflictError } from './decide-approval';
import { approvingEvent, resolveHeldJob, type ResolveDeps } from './resolve-held-job';

type OpenGate = JobRecord & { approval: ApprovalRecord & { gate: GateTerms } };

/*
 * Operations of a run on its gates. Each is idempotent: an ended gate is not changed.
 * See docs/reference/workflows.md#steps.
 */

/**
 * Ends a gate whose rule was met, or which expired: it succeeds if approved, else it ends DENIED with `approval_expired`.
 *
 * @param reason shown on the job
 * @returns whether this call ended it
 * @throws approval_retryable_lock on repeated concurrent changes
 */
export async function closeGate(deps: ResolveDeps, jobId: string, approved: boolean, reason: string): Promise<boolean> {
  const isEnded = await retryOnConflict(deps, jobId, async (job) => {
    const { approval } = job;
    const outcome = await resolveHeldJob(deps, '*', job, {
      event: approved ? approvingEvent(job) : 'deny',
      approval: {
        ...approval,
        status: approved ? 'approved' : 'invalidated',
        decision: approved ? 'approve' : 'expire',
        revision: approval.revision + 1,
        resolved_at: deps.clock.nowUs(),
        reason,
      },
      failure: { code: 'approval_expired', message: reason },
    });
    return outcome.kind === 'resolved';
  });
  return isEnded ?? false;
}

/**
 * Escalates a gate: lets the role that its rule names decide as well, and alerts it.
 *
 * @param role replaces the one that the gate was opened with
 * @throws when the alert cannot be published; the retry publishes it again
 */
export async function escalateGate(deps: ResolveDeps, jobId: string, role?: string): Promise<void> {
  const job = await updateTerms(deps, jobId, (gate) => ({
    ...gate,
    escalated: true,
    ...(role && { escalate_to: role }),
  }));
  if (!job) return;
  const { escalate_to: to = '' } = job.approval.gate;
  await alert(deps, job, 'warning', `an approval waited too long and was escalated${to && ` to ${to}`}`, {
    role: to,
  });
}

/**
 * Publishes a reminder for the approvers, and counts it.
 *
 * @throws when the alert cannot be published; the retry publishes it again
 */
export async function remindGate(deps: ResolveDeps, jobId: string): Promise<void> {
  const job = await updateTerms(deps, jobId, (gate) => ({ ...gate, reminders: (gate.reminders ?? 0) + 1 }));
  if (!job) return;
  await alert(deps, job, 'info', 'an approval is waiting', { reminders: String(job.approval.gate.reminders ?? 0) });
}

/** Changes the terms of an open gate; undefined when it is no longer open. */
async function updateTerms(
  deps: ResolveDeps,
  jobId: string,
  edit: (gate: GateTerms) => GateTerms,
): Promise<OpenGate | undefined> {
  return retryOnConflict(deps, jobId, async (job) => {
    const { approval } = job;
    const gate = edit(approval.gate);
    // Repeated escalation: only the alert may be missing.
    if (JSON.stringify(gate) === JSON.stringify(approval.gate)) return job;
    const changed = { ...approval, gate, revision: approval.revision + 1 };
    const isNoted = await deps.store.jobs.note(
      jobId,
      { states: ['APPROVAL_REQUIRED'], guard: { approval: JSON.stringify(approval) } },
      { approval: changed },
    );
    return isNoted && { ...job, approval: changed };
  });
}

const MAX_TRIES = 100;

/** Retries on CAS conflicts until the attempt succeeds or the gate is no longer open; bounded. */
async function retryOnConflict<T>(
  deps: ResolveDeps,
  jobId: string,
  attempt: (job: OpenGate) => Promise<T | false>,
): Promise<T | undefined> {
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    const job = await deps.store.jobs.load(jobId);
    if (!isOpenGate(job)) return undefined;
    const done = await attempt(job);
    if (done !== false) return done;
  }
  throw conflictError();
}

const isOpenGate = (job: JobRecord | undefined): job is OpenGate =>
  job?.state === 'APPROVAL_REQUIRED' && job.approval?.status === 'pending' && job.approval.gate !== undefined;

async function alert(
  { bus, clock, senderId }: ResolveDeps,
  job: OpenGate,
  severity: 'info' | 'warning',
  message: string,
  more: Record<string, string>,
): Promise<void> {
  const { workflow_id = '', step_id = '' } = job.request.labels;
  const details = { job_id: job.id, tenant: job.tenant, run_id: job.run ?? '', workflow_id, step_id, ...more };
  const head = { trace_id: job.trace_id, sender_id: senderId, nowUs: clock.nowUs() };
  await bus.publish(subjects.alert.name, alertPacket(head, { severity, message, details }));
}
