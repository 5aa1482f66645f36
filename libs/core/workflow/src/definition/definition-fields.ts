import type { Faults, Path } from './faults';
import { fields, flag, integer, json, listOf, number, object, oneOf, text, textMap, texts, type Field } from './fields';
import { limitFields } from './limit-fields';
import { definitionLimits as limits } from './limits';
import { stepTypes } from './workflow';
import type { Compensation, GateRule, RetryRule, StepDefinition, StepMeta } from './workflow';
import type { WorkflowDefinition, WorkflowParameter } from './workflow';

/** Letters, digits and ._- after a letter or digit: job ids join step ids with `:`, `@` and `[`. */
const stepIdPattern = /^[A-Za-z0-9][A-Za-z0-9._-]*$/;
const topicPattern = /^job\.(?!.*\.\.)[a-zA-Z0-9]([a-zA-Z0-9_.-]*[a-zA-Z0-9])?$/;
const topicMessage = 'must be job. and letters, digits, _, - and single dots, ending with a letter or digit';

/** Whether jobs may be submitted to a topic. See docs/reference/routing.md#topics. */
export const isTopic = (topic: string): boolean => topic.length <= limits.topicChars && topicPattern.test(topic);

const name = text(limits.nameChars);
const long = text(limits.textChars);
const topic = text(limits.topicChars, { fits: topicPattern, message: topicMessage });
const words = texts(limits.words, limits.nameChars);
const labels = textMap(limits.labels, limits.textChars);

const retry = fields<RetryRule>({
  max_retries: integer(0, limits.retries),
  initial_backoff_sec: number(0, limits.backoffSec),
  max_backoff_sec: number(0, limits.backoffSec),
  multiplier: number(1, limits.multiplier),
});

const meta = fields<StepMeta>({
  actor_id: name,
  actor_type: oneOf(['human', 'service']),
  idempotency_key: text(limits.pathChars),
  pack_id: name,
  capability: name,
  risk_tags: words,
  requires: words,
  labels,
});

const compensation = fields<Compensation>(
  {
    topic: (value, path, faults) => {
      const written = name(value, path, faults);
      if (written === undefined || isTopic(written) || isTopic(`job.${written}`)) return written;
      faults.add(path, topicMessage);
      return undefined;
    },
    input: object,
    timeout_sec: integer(0, limits.timeoutSec),
    adapter_id: name,
    memory_id: text(limits.pathChars),
    env: labels,
    labels,
    meta,
  },
  { required: ['topic'] },
);

const gate = fields<GateRule>({
  expires_sec: integer(1, limits.delaySec),
  on_expiry: oneOf(['reject', 'approve', 'escalate']),
  remind_sec: integer(1, limits.delaySec),
  escalate_to: name,
  escalate_after_sec: integer(1, limits.delaySec),
  quorum: integer(1, limits.quorum),
  deny_requester: flag,
});

/** Names separated by dots; in an output a name may be an index. See docs/reference/workflows.md#expressions. */
const dotPath = text(limits.pathChars, {
  fits: /^[^.\s]+(\.[^.\s]+)*$/,
  message: 'must be names with single dots between them, such as bay.number',
});
const unreadable = ['__proto__', 'constructor', 'prototype'];
const safePath: Field<string> = (value, path, faults) => {
  const written = dotPath(value, path, faults);
  const word = written?.split('.').find((part) => unreadable.includes(part));
  if (word === undefined) return written;
  faults.add(path, `must not contain ${word}: choose another name`);
  return undefined;
};

/** A path in the run's context, except `steps`: only the engine writes step outputs. */
export const contextPath: Field<string> = (value, path, faults) => {
  const written = safePath(value, path, faults);
  if (written === undefined || contextKeys(written)[0] !== 'steps') return written;
  faults.add(path, 'must not be in ctx.steps, which holds the outputs of steps: choose another name');
  return undefined;
};

/** The keys of a path in the context; a leading `ctx.` is dropped. */
const contextKeys = (path: string): string[] => path.replace(/^ctx\./, '').split('.');

const rfc3339 = /^\d{4}-\d{2}-\d{2}[Tt]\d{2}:\d{2}:\d{2}(\.\d+)?([Zz]|[+-]\d{2}:\d{2})$/;
const timestamp: Field<string> = (value, path, faults) => {
  if (typeof value === 'string' && rfc3339.test(value) && isOnCalendar(value)) return value;
  faults.add(path, 'must be an RFC 3339 time, such as 2030-01-31T08:00:00Z');
  return undefined;
};
/** Rejects days such as 31 February, which `Date` reads as a day in March. */
const isOnCalendar = (value: string): boolean => {
  if (Number.isNaN(Date.parse(value))) return false;
  const day = new Date(`${value.slice(0, 10)}T00:00:00Z`);
  return !Number.isNaN(day.getTime()) && day.toISOString().startsWith(value.slice(0, 10));
};

export const readStep = fields<StepDefinition>(
  {
    name,
    type: oneOf(stepTypes),
    depends_on: texts(limits.maxSteps, limits.idChars),
    join: oneOf(['all', 'any']),
    condition: long,
    for_each: long,
    max_parallel: integer(0, limits.parallel),
    fail_fast: flag,
    worker_id: name,
    topic,
    input: object,
    input_schema: object,
    input_schema_id: name,
    result_data_path: safePath,
    output_path: contextPath,
    output_schema: object,
    output_schema_id: name,
    meta,
    route_labels: labels,
    retry,
    ...limitFields,
    timeout_sec: integer(0, limits.timeoutSec),
    delay_sec: integer(0, limits.delaySec),
    delay_until: timestamp,
    on_error: text(limits.idChars),
    policy_gate: oneOf(['allow', 'deny', 'require_approval']),
    compensation,
    gate,
    exclude_starter: flag,
    signal: name,
    mock_output: json,
  },
  { ignored: ['id'] },
);

const parameter = fields<WorkflowParameter>(
  { name, type: name, default: json, required: flag, description: long },
  { required: ['name'] },
);

/** The workflow's own fields; steps are read separately, and fields set by the server are omitted. */
export const readWorkflow = fields<WorkflowDefinition>(
  {
    id: text(limits.workflowIdChars),
    org_id: text(limits.pathChars),
    team_id: text(limits.pathChars),
    name,
    description: long,
    version: name,
    timeout_sec: integer(0, limits.timeoutSec),
    input_schema: object,
    parameters: listOf(limits.parameters, parameter),
    config: object,
    policy_override: text(limits.maxBytes),
    output: json,
    on_failure: oneOf(['cancel_siblings', 'finish_siblings']),
    steps: rawSteps,
  },
  { required: ['id', 'org_id', 'name', 'steps'], ignored: ['created_by', 'created_at', 'updated_at', 'revision'] },
);

/** Valid steps by id. A function declaration, because the table above refers to it. */
function rawSteps(value: unknown, path: Path, faults: Faults): Record<string, StepDefinition> | undefined {
  const steps = object(value, path, faults);
  if (!steps) return undefined;
  if (Object.keys(steps).length === 0) faults.add(path, 'must contain at least one step');
  return Object.fromEntries(
    Object.entries(steps).flatMap(([id, raw]) => {
      const at = [...path, id];
      checkId(id, raw, at, faults);
      const step = readStep(raw, at, faults);
      return step ? [[id, step]] : [];
    }),
  );
}

function checkId(id: string, raw: unknown, path: Path, faults: Faults): void {
  if (id.length > limits.idChars) faults.add(path, `the id is ${id.length} characters long: at most ${limits.idChars}`);
  if (!stepIdPattern.test(id)) {
    faults.add(path, 'a step’s id must be letters, digits, ., _ and -, beginning with a letter or digit');
  }
  const own = typeof raw === 'object' && raw !== null && 'id' in raw ? raw.id : undefined;
  if (own !== undefined && own !== null && own !== '' && own !== id) {
    faults.add([...path, 'id'], `must be ${JSON.stringify(id)}, its key in the map: leave it out`);
  }
}
