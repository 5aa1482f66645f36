import type { StepDefinition, StepType } from '../definition/workflow';
import type { DispatchJob } from '../planner/actions';
import { attemptId } from '../planner/ids';
import { ownNames, render } from '../planner/scope';
import { renderLimits } from './job-limits';
import { failed, timedOut, type StepContext, type StepKind, type Outcome } from './kind';

const defaultTopics: Partial<Record<StepType, string>> = {
  llm: 'job.llm',
  http: 'job.http',
  container: 'job.container',
  script: 'job.script',
};

/** Topic of a step's job. See docs/reference/workflows.md#definitions. */
export const getTopic = (workflowId: string, def: StepDefinition, type: StepType): string =>
  def.topic ?? defaultTopics[type] ?? `job.workflow.${workflowId}`;

/** worker, llm, http, container, script, input, and the rounds of a loop without a body: a job of a worker. */
export const job: StepKind = {
  takesSlot: true,
  retries: true,
  begin(at) {
    const { draft, node, path } = at;
    if (node.def.policy_gate === 'deny') {
      return {
        kind: 'ended',
        status: 'denied',
        error: { message: 'policy_gate of the step is deny', code: 'policy_gate' },
      };
    }
    const payload = buildPayload(at);
    if (payload.kind === 'bad') return failed(payload.message, 'step_input_invalid');
    const wrong = draft.context.checkSchema(node.def, 'input', payload.value);
    if (wrong !== undefined) return failed(wrong, 'step_input_invalid');
    if (draft.run.dry_run && node.def.mock_output !== undefined) return mocked(node.def.mock_output);

    const limits = renderLimits(at);
    if (limits.kind === 'bad') return failed(limits.message, 'step_limit_invalid');

    const run = draft.edit(path);
    run.input = payload.value;
    if (limits.value) run.limits = limits.value;
    else delete run.limits;
    run.job_id = attemptId(draft.run.id, path, run.attempts);
    const action = buildJobAction(at);
    draft.emit(action, path);
    draft.note('step_dispatched', { step_id: path, job_id: run.job_id, data: { attempt: run.attempts } });
    // The scheduler ends a job at its deadline; this covers a lost event.
    if (action.timeoutMs !== undefined) {
      draft.setTimer(path, 'timeout', draft.context.nowMs + action.timeoutMs + draft.context.limits.timeoutGraceMs);
    }
    return { kind: 'running' };
  },
  action: (at) => buildJobAction(at),
  timer: (_at, purpose) => (purpose === 'timeout' ? timedOut('no result in time') : undefined),
};

const mocked = (output: unknown): Outcome => ({ kind: 'succeeded', output });

/** Derived from record and definition alone, so that it can be rebuilt. */
function buildJobAction({ draft, node, path }: StepContext): DispatchJob {
  const run = draft.record(path);
  const jobId = attemptId(draft.run.id, path, run.attempts);
  const { def, type } = node;
  return {
    kind: 'dispatchJob',
    id: jobId,
    jobId,
    step: node.id,
    path,
    attempt: run.attempts,
    topic: getTopic(draft.run.workflow_id, def, type),
    input: run.input,
    priority: parsePriority(draft.run.input['priority']),
    ...(def.timeout_sec !== undefined && def.timeout_sec > 0 && { timeoutMs: def.timeout_sec * 1_000 }),
    ...(run.limits && { limits: run.limits }),
    ...(run.retried && { retried: true }),
  };
}

/** The priority that the run's input names, in any case; BATCH for any other value. */
function parsePriority(value: unknown): DispatchJob['priority'] {
  const name = typeof value === 'string' ? value.toUpperCase() : '';
  return name === 'CRITICAL' || name === 'INTERACTIVE' ? name : 'BATCH';
}

/** Keys of a loop's `input` that configure the loop; not passed to its job. */
const loopKeys = ['max_iterations', 'condition', 'while', 'until', 'body', 'body_step'];
const loopInputs = new WeakMap<StepDefinition, Record<string, unknown>>();

function getJobInput(def: StepDefinition, type: StepType): Record<string, unknown> | undefined {
  if (type !== 'loop' || !def.input) return def.input;
  const known = loopInputs.get(def);
  if (known) return known;
  const own = Object.fromEntries(Object.entries(def.input).filter(([key]) => !loopKeys.includes(key)));
  loopInputs.set(def, own);
  return own;
}

/** The evaluated input, or the whole input of the run, plus the names that a fan-out, a loop or an error adds. */
function buildPayload(at: StepContext) {
  const { draft, node } = at;
  const input = getJobInput(node.def, node.type);
  const rendered = input ? render(at, input) : ({ kind: 'ok', value: draft.run.input } as const);
  if (rendered.kind === 'bad') return rendered;
  const { index: _index, ...added } = ownNames(at);
  return { kind: 'ok', value: { ...added, ...(rendered.value as Record<string, unknown>) } } as const;
}
