import type { OpenGate } from '../planner/actions';
import type { RunEvent } from '../planner/events';
import { attemptId } from '../planner/ids';
import type { GateRun } from '../planner/run-state';
import { render } from '../planner/scope';
import { failed, timedOut, type At, type Kind, type Outcome } from './kind';

/** Asks people; who may answer is checked where answers come in. See docs/reference/workflows.md#approval-steps. */
export const approval: Kind = {
  begin(at) {
    const { draft, node, path } = at;
    const input = render(at, node.def.input);
    if (input.kind === 'bad') return failed(input.message, 'step_input_invalid');
    const run = draft.edit(path);
    run.input = input.value;
    run.job_id = attemptId(draft.run.id, path, run.attempts);
    run.gate = { approvals: [], reminders: 0 };
    draft.emit(gateAction(at), path);
    draft.note('step_waiting', { step_id: path, job_id: run.job_id });
    const { expires_sec, remind_sec, escalate_after_sec } = node.def.gate ?? {};
    arm(at, 'timeout', node.def.timeout_sec);
    arm(at, 'expire', expires_sec);
    arm(at, 'remind1', remind_sec);
    arm(at, 'escalate', escalate_after_sec);
    return { kind: 'waiting' };
  },
  action: (at) => gateAction(at),
  timer(at, purpose) {
    if (purpose === 'timeout') return timedOut('nobody decided in time');
    if (purpose === 'expire') return gateExpired(at);
    if (purpose === 'escalate') return escalate(at);
    if (purpose.startsWith('remind')) return remind(at);
    return undefined;
  },
};

const arm = ({ draft, path }: At, purpose: string, sec: number | undefined): void => {
  if (sec !== undefined && sec > 0) draft.setTimer(path, purpose, draft.around.nowMs + sec * 1_000);
};

function gateAction({ draft, node, path }: At): OpenGate {
  const run = draft.record(path);
  const jobId = attemptId(draft.run.id, path, run.attempts);
  const rule = node.def.gate ?? {};
  return { kind: 'openGate', id: jobId, jobId, step: node.id, path, attempt: run.attempts, input: run.input, rule };
}

const gateOf = ({ draft, path }: At): GateRun => draft.peek(path)?.gate ?? { approvals: [], reminders: 0 };

/** One person's answer: a refusal ends the gate, consent does when enough different people gave it. */
export function gateAnswered(at: At, answer: Extract<RunEvent, { kind: 'gateResolved' }>): Outcome | undefined {
  const { draft, node, path } = at;
  const { approved, by, role, comment } = answer;
  if (!approved) return refused(at, comment ?? 'rejected', who(by, role));
  const gate = gateOf(at);
  if (by !== undefined && gate.approvals.some((other) => other.by === by)) return undefined;
  const own = { ...(by !== undefined && { by }), ...(role !== undefined && { role }), ...(comment !== undefined && { comment }) }; // prettier-ignore
  const approvals = [...gate.approvals, own];
  draft.edit(path).gate = { ...gate, approvals };
  const needed = node.def.gate?.quorum ?? 1;
  draft.note('step_approved', { step_id: path, ...said(comment), data: { ...who(by, role), approvals: approvals.length, needed } }); // prettier-ignore
  return approvals.length < needed ? undefined : consented(at);
}

const who = (by: string | undefined, role: string | undefined) => ({
  ...(by !== undefined && { by }),
  ...(role !== undefined && { role }),
});
const said = (comment: string | undefined) => (comment === undefined || comment === '' ? {} : { message: comment });

/** @param by who refused, when it was a person */
export function refused(at: At, message: string, by: { by?: string; role?: string } = {}): Outcome {
  const { draft, path } = at;
  close(at, false);
  draft.note('step_rejected', { step_id: path, message, ...(by.by !== undefined && { data: by }) });
  return { kind: 'ended', status: 'denied', error: { message, code: 'approval_rejected' } };
}

export function consented(at: At): Outcome {
  const last = gateOf(at).approvals.at(-1);
  close(at, true);
  // Nobody's answer, which would have been told already: the gate's own rule.
  if (!last) at.draft.note('step_approved', { step_id: at.path });
  return {
    kind: 'succeeded',
    output: { approved: true, resolved_by: last?.by ?? null, comment: last?.comment ?? null },
  };
}

/** Its job need not wait any longer, unless it was the job that told us. */
function close({ draft, node, path }: At, approved: boolean): void {
  const run = draft.edit(path);
  if (!run.open) return;
  const jobId = attemptId(draft.run.id, path, run.attempts);
  draft.answered(path, jobId);
  draft.emit({ kind: 'closeGate', id: `close:${jobId}`, jobId, step: node.id, approved });
}

/** Nobody decided: the gate's rule says what that means. */
export function gateExpired(at: At): Outcome | undefined {
  switch (at.node.def.gate?.on_expiry ?? 'reject') {
    case 'approve':
      return consented(at);
    case 'escalate':
      return escalate(at);
    case 'reject':
      return refused(at, 'expired');
  }
}

function escalate(at: At): undefined {
  const { draft, node, path } = at;
  const run = draft.edit(path);
  const role = node.def.gate?.escalate_to;
  const jobId = attemptId(draft.run.id, path, run.attempts);
  if (gateOf(at).escalated_to !== undefined) return;
  run.gate = { ...gateOf(at), escalated_to: role ?? '' };
  draft.emit({
    kind: 'escalateGate',
    id: `escalate:${jobId}`,
    jobId,
    step: node.id,
    ...(role !== undefined && { role }),
  });
}

function remind(at: At): undefined {
  const { draft, node, path } = at;
  const reminders = gateOf(at).reminders + 1;
  const run = draft.edit(path);
  run.gate = { ...gateOf(at), reminders };
  const jobId = attemptId(draft.run.id, path, run.attempts);
  draft.emit({ kind: 'remindGate', id: `remind${reminders}:${jobId}`, jobId, step: node.id });
  arm(at, `remind${reminders + 1}`, node.def.gate?.remind_sec);
}
