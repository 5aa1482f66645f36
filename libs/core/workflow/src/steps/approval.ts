import type { OpenGate } from '../planner/actions';
import type { RunEvent } from '../planner/events';
import { attemptId } from '../planner/ids';
import type { GateRun } from '../planner/run-state';
import { render } from '../planner/scope';
import { failed, timedOut, type StepContext, type StepKind, type Outcome } from './kind';

/** Waits for approvals; permission to approve is checked where they are received. See docs/reference/workflows.md#approval-steps. */
export const approval: StepKind = {
  begin(at) {
    const { draft, node, path } = at;
    const input = render(at, node.def.input);
    if (input.kind === 'bad') return failed(input.message, 'step_input_invalid');
    const run = draft.edit(path);
    run.input = input.value;
    run.job_id = attemptId(draft.run.id, path, run.attempts);
    run.gate = { approvals: [], reminders: 0 };
    draft.emit(buildGateAction(at), path);
    draft.note('step_waiting', { step_id: path, job_id: run.job_id });
    const { expires_sec, remind_sec, escalate_after_sec } = node.def.gate ?? {};
    arm(at, 'timeout', node.def.timeout_sec);
    arm(at, 'expire', expires_sec);
    arm(at, 'remind1', remind_sec);
    arm(at, 'escalate', escalate_after_sec);
    return { kind: 'waiting' };
  },
  action: (at) => buildGateAction(at),
  timer(at, purpose) {
    if (purpose === 'timeout') return timedOut('no decision in time');
    if (purpose === 'expire') return expireGate(at);
    if (purpose === 'escalate') return escalate(at);
    if (purpose.startsWith('remind')) return remind(at);
    return undefined;
  },
};

const arm = ({ draft, path }: StepContext, purpose: string, sec: number | undefined): void => {
  if (sec !== undefined && sec > 0) draft.setTimer(path, purpose, draft.context.nowMs + sec * 1_000);
};

function buildGateAction({ draft, node, path }: StepContext): OpenGate {
  const run = draft.record(path);
  const jobId = attemptId(draft.run.id, path, run.attempts);
  const rule = node.def.gate ?? {};
  return { kind: 'openGate', id: jobId, jobId, step: node.id, path, attempt: run.attempts, input: run.input, rule };
}

const getGate = ({ draft, path }: StepContext): GateRun => draft.peek(path)?.gate ?? { approvals: [], reminders: 0 };

/** Applies one person's answer: a rejection ends the gate; approvals end it once enough different people gave one. */
export function applyGateAnswer(
  at: StepContext,
  answer: Extract<RunEvent, { kind: 'gateResolved' }>,
): Outcome | undefined {
  const { draft, node, path } = at;
  const { approved, by, role, comment } = answer;
  if (!approved) return rejectGate(at, comment ?? 'rejected', toPerson(by, role));
  const gate = getGate(at);
  if (by !== undefined && gate.approvals.some((other) => other.by === by)) return undefined;
  const own = { ...(by !== undefined && { by }), ...(role !== undefined && { role }), ...(comment !== undefined && { comment }) }; // prettier-ignore
  const approvals = [...gate.approvals, own];
  draft.edit(path).gate = { ...gate, approvals };
  const needed = node.def.gate?.quorum ?? 1;
  draft.note('step_approved', { step_id: path, ...toMessage(comment), data: { ...toPerson(by, role), approvals: approvals.length, needed } }); // prettier-ignore
  return approvals.length < needed ? undefined : approveGate(at);
}

const toPerson = (by: string | undefined, role: string | undefined) => ({
  ...(by !== undefined && { by }),
  ...(role !== undefined && { role }),
});
const toMessage = (comment: string | undefined) =>
  comment === undefined || comment === '' ? {} : { message: comment };

/** @param by the person who rejected it, if any */
export function rejectGate(at: StepContext, message: string, by: { by?: string; role?: string } = {}): Outcome {
  const { draft, path } = at;
  close(at, false);
  draft.note('step_rejected', { step_id: path, message, ...(by.by !== undefined && { data: by }) });
  return { kind: 'ended', status: 'denied', error: { message, code: 'approval_rejected' } };
}

export function approveGate(at: StepContext): Outcome {
  const last = getGate(at).approvals.at(-1);
  close(at, true);
  // Approved by the gate's own rule: answers of people are already in the timeline.
  if (!last) at.draft.note('step_approved', { step_id: at.path });
  return {
    kind: 'succeeded',
    output: { approved: true, resolved_by: last?.by ?? null, comment: last?.comment ?? null },
  };
}

/** Closes the gate's job, unless the job itself triggered this. */
function close({ draft, node, path }: StepContext, approved: boolean): void {
  const run = draft.edit(path);
  if (!run.open) return;
  const jobId = attemptId(draft.run.id, path, run.attempts);
  draft.answered(path, jobId);
  draft.emit({ kind: 'closeGate', id: `close:${jobId}`, jobId, step: node.id, approved });
}

/** Applies the gate's `on_expiry` rule. */
export function expireGate(at: StepContext): Outcome | undefined {
  switch (at.node.def.gate?.on_expiry ?? 'reject') {
    case 'approve':
      return approveGate(at);
    case 'escalate':
      return escalate(at);
    case 'reject':
      return rejectGate(at, 'expired');
  }
}

function escalate(at: StepContext): undefined {
  const { draft, node, path } = at;
  const run = draft.edit(path);
  const role = node.def.gate?.escalate_to;
  const jobId = attemptId(draft.run.id, path, run.attempts);
  if (getGate(at).escalated_to !== undefined) return;
  run.gate = { ...getGate(at), escalated_to: role ?? '' };
  draft.emit({
    kind: 'escalateGate',
    id: `escalate:${jobId}`,
    jobId,
    step: node.id,
    ...(role !== undefined && { role }),
  });
}

function remind(at: StepContext): undefined {
  const { draft, node, path } = at;
  const reminders = getGate(at).reminders + 1;
  const run = draft.edit(path);
  run.gate = { ...getGate(at), reminders };
  const jobId = attemptId(draft.run.id, path, run.attempts);
  draft.emit({ kind: 'remindGate', id: `remind${reminders}:${jobId}`, jobId, step: node.id });
  arm(at, `remind${reminders + 1}`, node.def.gate?.remind_sec);
}
