import { alertPacket, subjects } from '@svc/contract';
import type { ApprovalRecord, GateTerms, JobRecord } from '@svc/store';
import { busy } from './decide-approval';
import { approvingEvent, settle, type SettleDeps } from './resolve-held-job';

type OpenGate = JobRecord & { approval: ApprovalRecord & { gate: GateTerms } };

/**
 * What a gate's run does to it. Each is safe to repeat: a gate that has ended is left alone.
 * See docs/reference/workflows.md#steps.
 */

/**
 * Ends a gate whose rule was met, or which is over without people: approved it succeeds, else it ends DENIED as expired.
 *
 * @param reason in words, for whoever reads the job
 * @returns whether this call ended it
 * @throws approval_retryable_lock when people keep on changing it meanwhile
 */
export async function closeGate(deps: SettleDeps, jobId: string, approved: boolean, reason: string): Promise<boolean> {
  const isEnded = await insist(deps, jobId, async (job) => {
    const { approval } = job;
    const settled = await settle(deps, '*', job, {
      event: approved ? approvingEvent(job) : 'deny',
      approval: {
        ...approval,
        status: approved ? 'approved' : 'invalidated',
        decision: approved ? 'approve' : 'expire',
        revision: approval.revision + 1,
        resolved_at: deps.clock.nowUs(),
        reason,
      },
      ending: { code: 'approval_expired', message: reason },
    });
    return settled.kind === 'settled';
  });
  return isEnded ?? false;
}

/**
 * Lets the role that the gate's rule names decide as well, and tells it.
 *
 * @param role in place of the one that the gate was opened with
 * @throws when the bus does not take the alert; the repeat tells it again
 */
export async function escalateGate(deps: SettleDeps, jobId: string, role?: string): Promise<void> {
  const job = await change(deps, jobId, (gate) => ({ ...gate, escalated: true, ...(role && { escalate_to: role }) }));
  if (!job) return;
  const { escalate_to: to = '' } = job.approval.gate;
  await alert(deps, job, 'warning', `an approval waits for too long and is escalated${to && ` to ${to}`}`, {
    role: to,
  });
}

/**
 * Reminds whoever may decide, and counts that.
 *
 * @throws when the bus does not take the alert; the repeat tells it again
 */
export async function remindGate(deps: SettleDeps, jobId: string): Promise<void> {
  const job = await change(deps, jobId, (gate) => ({ ...gate, reminders: (gate.reminders ?? 0) + 1 }));
  if (!job) return;
  await alert(deps, job, 'info', 'an approval waits', { reminders: String(job.approval.gate.reminders ?? 0) });
}

/** Changes the terms of an open gate; undefined when it is open no more. */
async function change(
  deps: SettleDeps,
  jobId: string,
  edit: (gate: GateTerms) => GateTerms,
): Promise<OpenGate | undefined> {
  return insist(deps, jobId, async (job) => {
    const { approval } = job;
    const gate = edit(approval.gate);
    // An escalation told once more: it is the alert that may be missing.
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

const mostTries = 100;

/** Tries until it worked or the gate is open no more: people may answer between our read and our write. */
async function insist<T>(
  deps: SettleDeps,
  jobId: string,
  attempt: (job: OpenGate) => Promise<T | false>,
): Promise<T | undefined> {
  for (let tries = 0; tries < mostTries; tries++) {
    const job = await deps.store.jobs.load(jobId);
    if (!isOpenGate(job)) return undefined;
    const done = await attempt(job);
    if (done !== false) return done;
  }
  throw busy();
}

const isOpenGate = (job: JobRecord | undefined): job is OpenGate =>
  job?.state === 'APPROVAL_REQUIRED' && job.approval?.status === 'pending' && job.approval.gate !== undefined;

async function alert(
  { bus, clock, senderId }: SettleDeps,
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
