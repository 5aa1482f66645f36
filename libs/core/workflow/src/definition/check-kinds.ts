import { isRecord } from '@svc/json';
import { contextPath, isTopic } from './definition-fields';
import type { Faults, Path } from './faults';
import { integer, isAbsent, isTemplate, oneOf, type Field } from './fields';
import { misplacedFields } from './kind-fields';
import { definitionLimits as limits } from './limits';
import { bodyKey, childLinks, matchKeys, targetKeys } from './links';
import { nearest } from './nearest';
import { getStepType, type StepDefinition, type StepType } from './workflow';

interface Step {
  step: StepDefinition;
  /** As written: an invalid field already has its fault and does not count as absent. */
  raw: Record<string, unknown>;
  path: Path;
  input: Record<string, unknown>;
  workflowId: string;
  faults: Faults;
}

/** Checks required, optional and unusable fields of a kind. See docs/reference/workflows.md#definitions. */
export function checkKind(read: Omit<Step, 'input'>): void {
  const { step, raw, path, faults } = read;
  if (!isAbsent(raw['type']) && step.type === undefined) return;
  for (const { field, message } of misplacedFields(step)) faults.add([...path, field], message);
  const type = getStepType(step);
  const one: Step = { ...read, input: step.input ?? {} };
  checkRetry(one);
  checkTopic(one, type);
  if (!isAbsent(raw['input']) && step.input === undefined) return;
  checkInputNames(one, type);
  ofKind[type]?.(one);
}

const ofKind: Partial<Record<StepType, (step: Step) => void>> = {
  approval: checkGate,
  condition: (one) => needsCondition(one, 'whose truth value is the output'),
  switch: checkSwitch,
  delay: checkDelay,
  storage: checkStorage,
  parallel: checkParallel,
  loop: checkLoop,
  subworkflow: checkSubworkflow,
};

/** Inputs that a kind reads; others are ignored. */
const inputNames: Partial<Record<StepType, readonly string[]>> = {
  switch: ['cases', 'default', 'default_step'],
  notify: ['level', 'message', 'component', 'trace_id', 'details'],
  storage: ['operation', 'key', 'value'],
  parallel: ['steps', 'strategy', 'required', 'max_parallel'],
  loop: ['body_step', 'body', 'max_iterations', 'condition', 'while', 'until'],
  subworkflow: ['workflow_id', 'input_mapping', 'output_mapping'],
};

/** Reports misspelled names, which would be ignored silently; any other name may be the author's note. */
function checkInputNames({ step, input, path, faults }: Step, type: StepType): void {
  const names = inputNames[type];
  if (!names || (type === 'loop' && bodyKey(step) === undefined)) return;
  for (const key of Object.keys(input)) {
    const near = names.includes(key) ? undefined : nearest(key, names);
    if (near !== undefined) faults.add([...path, 'input', key], `is not read by a ${type} step: did you mean ${near}?`);
  }
}

function checkRetry({ step: { retry }, path, faults }: Step): void {
  if (retry?.max_backoff_sec === undefined || retry.initial_backoff_sec === undefined) return;
  if (retry.max_backoff_sec < retry.initial_backoff_sec) {
    faults.add([...path, 'retry', 'max_backoff_sec'], 'is less than initial_backoff_sec: raise it, or leave it out');
  }
}

function checkTopic({ step, raw, path, workflowId, faults }: Step, type: StepType): void {
  const byDefault = type === 'worker' || type === 'input' || (type === 'loop' && bodyKey(step) === undefined);
  if (!byDefault || !isAbsent(raw['topic'])) return;
  if (!isTopic(`job.workflow.${workflowId}`)) {
    faults.add([...path, 'topic'], 'is required, as the workflow’s id cannot be part of a topic');
  }
}

function checkGate({ step: { gate = {} }, path, faults }: Step): void {
  const fault = (field: string, message: string) => faults.add([...path, 'gate', field], message);
  const { expires_sec: expires, remind_sec: remind, escalate_to: to, escalate_after_sec: escalateAfter } = gate;
  if (gate.on_expiry !== undefined && expires === undefined) fault('on_expiry', 'needs expires_sec');
  if (gate.on_expiry === 'escalate' && to === undefined) fault('escalate_to', 'is required when on_expiry is escalate');
  if (escalateAfter !== undefined && to === undefined) fault('escalate_to', 'is required with escalate_after_sec');
  if (to !== undefined && escalateAfter === undefined && gate.on_expiry !== 'escalate') {
    fault('escalate_to', 'needs escalate_after_sec, or on_expiry escalate');
  }
  if (expires === undefined) return;
  if (remind !== undefined && remind >= expires) fault('remind_sec', 'must be less than expires_sec');
  if (escalateAfter !== undefined && escalateAfter >= expires) {
    fault('escalate_after_sec', 'must be less than expires_sec');
  }
}

function needsCondition({ raw, path, faults }: Step, what: string): void {
  if (isAbsent(raw['condition'])) faults.add([...path, 'condition'], `is required: the expression ${what}`);
}

function checkSwitch(one: Step): void {
  const { input, path, faults } = one;
  needsCondition(one, 'that the cases are compared with');
  const at = [...path, 'input', 'cases'];
  const { cases } = input;
  if (Array.isArray(cases) && cases.length > 0) {
    return cases.forEach((item: unknown, index) => checkCase(item, [...at, index], faults));
  }
  if (isRecord(cases) && Object.keys(cases).length > 0) return;
  faults.add(at, 'is required: a list of {match, next}, tried in order');
}

function checkCase(item: unknown, path: Path, faults: Faults): void {
  if (!isRecord(item)) return faults.add(path, 'must be an object with match and next');
  const given = (keys: readonly string[]) => keys.filter((key) => item[key] !== undefined);
  for (const [names, what] of [
    [matchKeys, 'what it must equal'],
    [targetKeys, 'the step that then runs'],
  ] as const) {
    // prettier-ignore
    const found = given(names);
    if (found.length === 0) faults.add(path, `needs ${names.join(' or ')}: ${what}`);
    else if (found.length > 1) faults.add(path, `has ${found.join(' and ')}: keep one of them`);
  }
  const [match] = given(matchKeys);
  if (match !== undefined && typeof item[match] === 'object' && item[match] !== null) {
    faults.add([...path, match], 'must be a string, a number, true, false or null');
  }
}

function checkDelay({ raw, path, faults }: Step): void {
  if (!isAbsent(raw['delay_sec']) || !isAbsent(raw['delay_until']) || raw['timeout_sec']) return;
  faults.add(path, 'needs delay_sec or delay_until: how long, or until when');
}

function checkStorage({ input, path, faults }: Step): void {
  const operation = literal(oneOf(['read', 'write', 'delete']), input, 'operation', path, faults);
  if (isAbsent(input['operation'])) faults.add([...path, 'input', 'operation'], 'is required: read, write or delete');
  if (isAbsent(input['key'])) faults.add([...path, 'input', 'key'], 'is required: a path in ctx, such as totals.count');
  else if (operation !== 'read') literal(contextPath, input, 'key', path, faults);
}

function checkParallel({ step, input, path, faults }: Step): void {
  const children = childLinks(step).length;
  const at = [...path, 'input'];
  const { steps } = input;
  if (!Array.isArray(steps) && typeof steps !== 'string')
    faults.add([...at, 'steps'], 'is required: the ids of the steps it runs');
  const strategy = literal(oneOf(['all', 'any', 'n_of_m']), input, 'strategy', path, faults);
  literal(integer(0, limits.parallel), input, 'max_parallel', path, faults);
  if (strategy !== 'n_of_m') return;
  if (isAbsent(input['required'])) faults.add([...at, 'required'], 'is required with n_of_m: how many must succeed');
  else literal(integer(1, Math.max(1, children)), input, 'required', path, faults);
}

function checkLoop({ input, path, faults }: Step): void {
  literal(integer(1, limits.rounds), input, 'max_iterations', path, faults);
  for (const [first, second] of [
    ['body_step', 'body'],
    ['condition', 'while'],
  ] as const) {
    // prettier-ignore
    if (!isAbsent(input[first]) && !isAbsent(input[second])) {
      faults.add([...path, 'input', second], `conflicts with ${first}, which means the same: keep one of them`);
    }
  }
  for (const key of ['condition', 'while', 'until']) {
    if (!isAbsent(input[key]) && typeof input[key] !== 'string') {
      faults.add([...path, 'input', key], 'must be an expression string');
    }
  }
}

function checkSubworkflow({ input, path, workflowId, faults }: Step): void {
  const at = (key: string): Path => [...path, 'input', key];
  const id = input['workflow_id'];
  if (isAbsent(id)) faults.add(at('workflow_id'), 'is required: the id of the workflow to run');
  else if (typeof id !== 'string') faults.add(at('workflow_id'), 'must be a string');
  else if (id === workflowId) faults.add(at('workflow_id'), 'is this workflow: it would start itself without end');
  for (const key of ['input_mapping', 'output_mapping']) {
    const mapping = input[key];
    if (!isAbsent(mapping) && !isRecord(mapping) && !isTemplate(mapping)) {
      faults.add(at(key), 'must be an object whose strings may contain templates');
    }
  }
}

/** Reads a literal input; the value of a template is known only in a run. */
function literal<T>(
  field: Field<T>,
  input: Record<string, unknown>,
  key: string,
  path: Path,
  faults: Faults,
): T | undefined {
  const value = input[key];
  return isAbsent(value) || isTemplate(value) ? undefined : field(value, [...path, 'input', key], faults);
}
