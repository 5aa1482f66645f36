import { graphOf, type WorkflowGraph } from '../definition/graph';
import { switchCases, switchDefault, switchTargets } from '../definition/links';
import { isJobType, typeOf, type StepDefinition, type StepType, type WorkflowDefinition } from '../definition/workflow';
import { isTruthy } from '../expressions/expression';
import { topicOf } from '../steps/job';
import { isCase } from '../steps/switch';
import { readExpression, readTemplate, type Known, type Reading } from './evaluate-known';

/** What a run would make of a step, as far as that can be told from the input alone. */
export interface Outlook {
  step: string;
  type: StepType;
  /** `unknown` when it depends on what other steps return. */
  runs: 'yes' | 'no' | 'unknown';
  why?: string;
  /** Of steps that become jobs; of a fan-out the job of its first item. */
  job?: { topic: string; payload: unknown };
  condition?: unknown;
  target?: string;
  items?: number;
  /** What is looked for in the input, or in what steps give, and is not there. */
  unresolved: string[];
  error?: string;
}

export type Foresight = Pick<Known, 'nowMs' | 'limits' | 'isSpent'>;

/** How those who depend on a step would see its end. */
type Settled = 'ok' | 'neutral' | 'bad' | 'unknown';

interface Looking {
  definition: WorkflowDefinition;
  graph: WorkflowGraph;
  input: Record<string, unknown>;
  with: Foresight;
  outputs: Map<string, unknown>;
  outlooks: Map<string, Outlook>;
  settled: Map<string, Settled>;
  /** Step → the switch that goes elsewhere; undefined when that cannot be told. */
  passedOver: Map<string, { by: string; to: string | undefined }>;
}

/**
 * Goes through a definition without running it: which steps would begin with this input, and with what. Steps are taken to
 * succeed. Outputs are known of steps that make them themselves and of those with `mock_output`.
 * See docs/reference/workflows.md#dry-run.
 *
 * @returns every step, dependencies first
 */
export function foresee(definition: WorkflowDefinition, input: Record<string, unknown>, given: Foresight): Outlook[] {
  const looking: Looking = {
    definition,
    graph: graphOf(definition),
    input,
    with: given,
    outputs: new Map(),
    outlooks: new Map(),
    settled: new Map(),
    passedOver: new Map(),
  };
  for (const id of looking.graph.order) look(looking, id);
  return [...looking.outlooks.values()];
}

function look(looking: Looking, id: string): void {
  const def = looking.definition.steps[id] ?? {};
  const { settled, ...begins } = mayBegin(looking, id, def);
  const outlook: Outlook = { step: id, type: typeOf(def), ...begins, unresolved: [] };
  const missing = new Set<string>();
  looking.outlooks.set(id, outlook);
  looking.settled.set(id, settled);
  if (outlook.runs !== 'no' && guard(looking, outlook, def, missing)) work(looking, outlook, def, missing);
  // A job is asked about even when it would not run with this input: with another it might.
  else if (isJobType(outlook.type)) outlook.job = jobOf(looking, outlook, def, new Set()).job;
  if (outlook.runs === 'no') looking.outputs.set(id, undefined);
  outlook.unresolved = [...missing];
}

type Begins = Pick<Outlook, 'runs' | 'why'> & { settled: Settled };
const unknown = (why: string): Begins => ({ runs: 'unknown', why, settled: 'unknown' });
const no = (why: string, settled: Settled = 'neutral'): Begins => ({ runs: 'no', why, settled });
const yes: Begins = { runs: 'yes', settled: 'ok' };

function mayBegin({ graph, outlooks, settled, passedOver }: Looking, id: string, { join }: StepDefinition): Begins {
  const owner = graph.ownerOf.get(id);
  if (owner !== undefined) return within(outlooks.get(owner));
  const handled = graph.handles.get(id);
  if (handled) return unknown(`only when ${handled.join(' or ')} fails`);
  const passed = passedOver.get(id);
  if (passed) {
    if (passed.to === undefined) return unknown(`it depends on where ${passed.by} goes`);
    return no(`${passed.by} goes to ${passed.to}`);
  }
  const deps = graph.dependenciesOf(id);
  const of = (wanted: Settled) => deps.find((dep) => settled.get(dep) === wanted);
  const [ok, bad, open] = [of('ok'), of('bad'), of('unknown')];
  if (bad !== undefined && !(join === 'any' && ok !== undefined)) return no(`${bad} fails`, 'bad');
  if (deps.length === 0 || ok !== undefined) return yes;
  if (open !== undefined) return unknown(`it depends on ${open}`);
  return no('nothing it depends on would run');
}

function within(owner: Outlook | undefined): Begins {
  if (owner?.runs === 'no') return no(`${owner.step} would not run`);
  return owner?.runs === 'yes' && owner.type === 'parallel' ? yes : unknown(`${owner?.step} runs it`);
}

const knownOf = (looking: Looking, more: Record<string, unknown> = {}): Known => {
  const { id, name } = looking.definition;
  return {
    ...looking.with,
    names: { input: looking.input, workflow: { id, name }, ...more },
    outputs: looking.outputs,
  };
};

/** @returns whether the step may go on */
function guard(looking: Looking, outlook: Outlook, def: StepDefinition, missing: Set<string>): boolean {
  if (def.condition === undefined || outlook.type === 'condition' || outlook.type === 'switch') return true;
  const holds = readExpression(knownOf(looking), def.condition, missing);
  if (holds.kind === 'bad') return fails(looking, outlook, def, holds.why);
  if (holds.kind === 'unknown') {
    // Passed over by its own condition, it counts as done: those after it begin in any case.
    outlook.runs = 'unknown';
    outlook.why = holds.why;
    return true;
  }
  outlook.condition = holds.value ?? null;
  if (isTruthy(holds.value)) return true;
  outlook.runs = 'no';
  outlook.why = 'its condition does not hold';
  return false;
}

function fails(looking: Looking, outlook: Outlook, def: StepDefinition, error: string): false {
  outlook.error = error;
  looking.settled.set(outlook.step, def.on_error === undefined ? 'bad' : 'unknown');
  return false;
}

function work(looking: Looking, outlook: Outlook, def: StepDefinition, missing: Set<string>): void {
  const { type } = outlook;
  if (def.for_each !== undefined) return fanOut(looking, outlook, def, missing);
  if (isJobType(type)) return job(looking, outlook, def, missing);
  if (type === 'condition' || type === 'switch') return decide(looking, outlook, def, missing);
  if (type !== 'transform') return;
  const made = readTemplate(knownOf(looking), def.input ?? {}, missing);
  if (made.bad !== undefined) fails(looking, outlook, def, made.bad);
  else if (made.open.length === 0) gives(looking, outlook, made.value);
}

/** What a step gives is known only if it surely runs. */
function gives(looking: Looking, { step, runs }: Outlook, output: unknown): void {
  if (runs === 'yes') looking.outputs.set(step, output);
}

function fanOut(looking: Looking, outlook: Outlook, def: StepDefinition, missing: Set<string>): void {
  const list = readExpression(knownOf(looking), def.for_each ?? '', missing);
  if (list.kind === 'bad') return void fails(looking, outlook, def, list.why);
  const items = list.kind === 'value' ? (list.value ?? []) : undefined;
  if (items !== undefined && !Array.isArray(items)) return void fails(looking, outlook, def, 'for_each gives no list');
  const [first] = (items ?? []) as unknown[];
  if (items) outlook.items = items.length;
  const own = items && items.length > 0 ? { item: first ?? null, index: 0 } : {};
  if (isJobType(outlook.type)) job(looking, outlook, def, missing, own);
}

function job(
  looking: Looking,
  outlook: Outlook,
  def: StepDefinition,
  missing: Set<string>,
  own: Record<string, unknown> = {},
): void {
  const made = jobOf(looking, outlook, def, missing, own);
  outlook.job = made.job;
  if (made.bad !== undefined) return void fails(looking, outlook, def, made.bad);
  if (def.mock_output !== undefined && def.for_each === undefined) gives(looking, outlook, def.mock_output);
}

function jobOf(
  looking: Looking,
  { type }: Outlook,
  def: StepDefinition,
  missing: Set<string>,
  own: Record<string, unknown> = {},
): { job: NonNullable<Outlook['job']>; bad: string | undefined } {
  const { value, bad } = def.input
    ? readTemplate(knownOf(looking, own), def.input, missing)
    : { value: looking.input, bad: undefined };
  const { item } = own;
  const payload = { ...(item !== undefined && { item }), ...(value as Record<string, unknown>) };
  return { job: { topic: topicOf(looking.definition.id, def, type), payload }, bad };
}

function decide(looking: Looking, outlook: Outlook, def: StepDefinition, missing: Set<string>): void {
  const subject = readExpression(knownOf(looking), def.condition ?? '', missing);
  if (subject.kind === 'value') {
    outlook.condition = outlook.type === 'condition' ? isTruthy(subject.value) : (subject.value ?? null);
  }
  if (outlook.type === 'condition') {
    if (subject.kind === 'bad') fails(looking, outlook, def, subject.why);
    else if (subject.kind === 'value') gives(looking, outlook, isTruthy(subject.value));
    return;
  }
  choose(looking, outlook, def, subject);
}

function choose(looking: Looking, outlook: Outlook, def: StepDefinition, subject: Reading): void {
  if (subject.kind === 'bad') return void fails(looking, outlook, def, subject.why);
  const { step: by } = outlook;
  const targets = switchTargets(def).flatMap(({ id }) => (typeof id === 'string' ? [id] : []));
  if (subject.kind === 'unknown' || outlook.runs !== 'yes') {
    for (const id of targets) looking.passedOver.set(id, { by, to: undefined });
    return;
  }
  const fitting = switchCases(def).find(({ match }) => isCase(match, subject.value));
  const target = (fitting?.target ?? switchDefault(def))?.id;
  if (typeof target !== 'string') return void fails(looking, outlook, def, 'no case fits and there is no default');
  outlook.target = target;
  for (const id of targets) if (id !== target) looking.passedOver.set(id, { by, to: target });
  gives(looking, outlook, { matched_case: fitting?.match ?? null, matched_value: subject.value ?? null, target_step: target }); // prettier-ignore
}
