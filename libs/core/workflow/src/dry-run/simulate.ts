import { getGraph, type WorkflowGraph } from '../definition/graph';
import { switchCases, switchDefault, switchTargets } from '../definition/links';
import {
  isJobType,
  getStepType,
  type StepDefinition,
  type StepType,
  type WorkflowDefinition,
} from '../definition/workflow';
import { isTruthy } from '../expressions/expression';
import { getTopic } from '../steps/job';
import { matchesCase } from '../steps/switch';
import { evaluateExpression, renderKnown, type KnownScope, type KnownResult } from './evaluate-known';

/** Forecast of a step, as far as the input determines it. */
export interface StepForecast {
  step: string;
  type: StepType;
  /** `unknown` when it depends on what other steps return. */
  runs: 'yes' | 'no' | 'unknown';
  why?: string;
  /** The job of the step; for a fan-out that of its first item. */
  job?: { topic: string; payload: unknown };
  condition?: unknown;
  target?: string;
  items?: number;
  /** Paths that are read from the input or step outputs and do not exist. */
  unresolved: string[];
  error?: string;
}

export type SimulationOptions = Pick<KnownScope, 'nowMs' | 'limits' | 'isSpent'>;

/** How dependents would see the end of a step. */
type ExpectedSettlement = 'ok' | 'neutral' | 'bad' | 'unknown';

interface Simulation {
  definition: WorkflowDefinition;
  graph: WorkflowGraph;
  input: Record<string, unknown>;
  with: SimulationOptions;
  outputs: Map<string, unknown>;
  forecasts: Map<string, StepForecast>;
  settled: Map<string, ExpectedSettlement>;
  /** Step → the switch that selects another branch; `to` is undefined when the branch is unknown. */
  skippedBy: Map<string, { by: string; to: string | undefined }>;
}

/**
 * Simulates a run without executing it: which steps would begin with this input, and with which payload. Steps are assumed
 * to succeed. Outputs are known for inline steps and for those with `mock_output`.
 * See docs/reference/workflows.md#dry-run.
 *
 * @returns every step, dependencies first
 */
export function simulateRun(
  definition: WorkflowDefinition,
  input: Record<string, unknown>,
  given: SimulationOptions,
): StepForecast[] {
  const simulation: Simulation = {
    definition,
    graph: getGraph(definition),
    input,
    with: given,
    outputs: new Map(),
    forecasts: new Map(),
    settled: new Map(),
    skippedBy: new Map(),
  };
  for (const id of simulation.graph.order) forecastStep(simulation, id);
  return [...simulation.forecasts.values()];
}

function forecastStep(simulation: Simulation, id: string): void {
  const def = simulation.definition.steps[id] ?? {};
  const { settled, ...begins } = mayBegin(simulation, id, def);
  const forecast: StepForecast = { step: id, type: getStepType(def), ...begins, unresolved: [] };
  const missing = new Set<string>();
  simulation.forecasts.set(id, forecast);
  simulation.settled.set(id, settled);
  if (forecast.runs !== 'no' && passesGuard(simulation, forecast, def, missing))
    forecastWork(simulation, forecast, def, missing);
  // The job is included even if it would not run with this input: with another it might.
  else if (isJobType(forecast.type)) forecast.job = buildJob(simulation, forecast, def, new Set()).job;
  if (forecast.runs === 'no') simulation.outputs.set(id, undefined);
  forecast.unresolved = [...missing];
}

type BeginForecast = Pick<StepForecast, 'runs' | 'why'> & { settled: ExpectedSettlement };
const unknown = (why: string): BeginForecast => ({ runs: 'unknown', why, settled: 'unknown' });
const no = (why: string, settled: ExpectedSettlement = 'neutral'): BeginForecast => ({ runs: 'no', why, settled });
const yes: BeginForecast = { runs: 'yes', settled: 'ok' };

function mayBegin(
  { graph, forecasts, settled, skippedBy }: Simulation,
  id: string,
  { join }: StepDefinition,
): BeginForecast {
  const owner = graph.ownerOf.get(id);
  if (owner !== undefined) return beginWithin(forecasts.get(owner));
  const handled = graph.handles.get(id);
  if (handled) return unknown(`only when ${handled.join(' or ')} fails`);
  const passed = skippedBy.get(id);
  if (passed) {
    if (passed.to === undefined) return unknown(`it depends on where ${passed.by} goes`);
    return no(`${passed.by} goes to ${passed.to}`);
  }
  const deps = graph.dependenciesOf(id);
  const of = (wanted: ExpectedSettlement) => deps.find((dep) => settled.get(dep) === wanted);
  const [ok, bad, open] = [of('ok'), of('bad'), of('unknown')];
  if (bad !== undefined && !(join === 'any' && ok !== undefined)) return no(`${bad} fails`, 'bad');
  if (deps.length === 0 || ok !== undefined) return yes;
  if (open !== undefined) return unknown(`it depends on ${open}`);
  return no('nothing it depends on would run');
}

function beginWithin(owner: StepForecast | undefined): BeginForecast {
  if (owner?.runs === 'no') return no(`${owner.step} would not run`);
  return owner?.runs === 'yes' && owner.type === 'parallel' ? yes : unknown(`${owner?.step} runs it`);
}

const buildScope = (simulation: Simulation, more: Record<string, unknown> = {}): KnownScope => {
  const { id, name } = simulation.definition;
  return {
    ...simulation.with,
    names: { input: simulation.input, workflow: { id, name }, ...more },
    outputs: simulation.outputs,
  };
};

/** Evaluates the guard. @returns whether the step may begin */
function passesGuard(
  simulation: Simulation,
  forecast: StepForecast,
  def: StepDefinition,
  missing: Set<string>,
): boolean {
  if (def.condition === undefined || forecast.type === 'condition' || forecast.type === 'switch') return true;
  const holds = evaluateExpression(buildScope(simulation), def.condition, missing);
  if (holds.kind === 'bad') return setFailure(simulation, forecast, def, holds.why);
  if (holds.kind === 'unknown') {
    // Skipped by its own condition, it counts as done: its dependents begin in any case.
    forecast.runs = 'unknown';
    forecast.why = holds.why;
    return true;
  }
  forecast.condition = holds.value ?? null;
  if (isTruthy(holds.value)) return true;
  forecast.runs = 'no';
  forecast.why = 'its condition does not hold';
  return false;
}

function setFailure(simulation: Simulation, forecast: StepForecast, def: StepDefinition, error: string): false {
  forecast.error = error;
  simulation.settled.set(forecast.step, def.on_error === undefined ? 'bad' : 'unknown');
  return false;
}

function forecastWork(simulation: Simulation, forecast: StepForecast, def: StepDefinition, missing: Set<string>): void {
  const { type } = forecast;
  if (def.for_each !== undefined) return fanOut(simulation, forecast, def, missing);
  if (isJobType(type)) return forecastJob(simulation, forecast, def, missing);
  if (type === 'condition' || type === 'switch') return forecastCondition(simulation, forecast, def, missing);
  if (type !== 'transform') return;
  const made = renderKnown(buildScope(simulation), def.input ?? {}, missing);
  if (made.bad !== undefined) setFailure(simulation, forecast, def, made.bad);
  else if (made.unrendered.length === 0) setOutput(simulation, forecast, made.value);
}

/** Records a known output; only of steps that certainly run. */
function setOutput(simulation: Simulation, { step, runs }: StepForecast, output: unknown): void {
  if (runs === 'yes') simulation.outputs.set(step, output);
}

function fanOut(simulation: Simulation, forecast: StepForecast, def: StepDefinition, missing: Set<string>): void {
  const list = evaluateExpression(buildScope(simulation), def.for_each ?? '', missing);
  if (list.kind === 'bad') return void setFailure(simulation, forecast, def, list.why);
  const items = list.kind === 'value' ? (list.value ?? []) : undefined;
  if (items !== undefined && !Array.isArray(items))
    return void setFailure(simulation, forecast, def, 'for_each gives no list');
  const [first] = (items ?? []) as unknown[];
  if (items) forecast.items = items.length;
  const own = items && items.length > 0 ? { item: first ?? null, index: 0 } : {};
  if (isJobType(forecast.type)) forecastJob(simulation, forecast, def, missing, own);
}

function forecastJob(
  simulation: Simulation,
  forecast: StepForecast,
  def: StepDefinition,
  missing: Set<string>,
  own: Record<string, unknown> = {},
): void {
  const made = buildJob(simulation, forecast, def, missing, own);
  forecast.job = made.job;
  if (made.bad !== undefined) return void setFailure(simulation, forecast, def, made.bad);
  if (def.mock_output !== undefined && def.for_each === undefined) setOutput(simulation, forecast, def.mock_output);
}

function buildJob(
  simulation: Simulation,
  { type }: StepForecast,
  def: StepDefinition,
  missing: Set<string>,
  own: Record<string, unknown> = {},
): { job: NonNullable<StepForecast['job']>; bad: string | undefined } {
  const { value, bad } = def.input
    ? renderKnown(buildScope(simulation, own), def.input, missing)
    : { value: simulation.input, bad: undefined };
  const { item } = own;
  const payload = { ...(item !== undefined && { item }), ...(value as Record<string, unknown>) };
  return { job: { topic: getTopic(simulation.definition.id, def, type), payload }, bad };
}

function forecastCondition(
  simulation: Simulation,
  forecast: StepForecast,
  def: StepDefinition,
  missing: Set<string>,
): void {
  const subject = evaluateExpression(buildScope(simulation), def.condition ?? '', missing);
  if (subject.kind === 'value') {
    forecast.condition = forecast.type === 'condition' ? isTruthy(subject.value) : (subject.value ?? null);
  }
  if (forecast.type === 'condition') {
    if (subject.kind === 'bad') setFailure(simulation, forecast, def, subject.why);
    else if (subject.kind === 'value') setOutput(simulation, forecast, isTruthy(subject.value));
    return;
  }
  forecastSwitch(simulation, forecast, def, subject);
}

function forecastSwitch(
  simulation: Simulation,
  forecast: StepForecast,
  def: StepDefinition,
  subject: KnownResult,
): void {
  if (subject.kind === 'bad') return void setFailure(simulation, forecast, def, subject.why);
  const { step: by } = forecast;
  const targets = switchTargets(def).flatMap(({ id }) => (typeof id === 'string' ? [id] : []));
  if (subject.kind === 'unknown' || forecast.runs !== 'yes') {
    for (const id of targets) simulation.skippedBy.set(id, { by, to: undefined });
    return;
  }
  const matching = switchCases(def).find(({ match }) => matchesCase(match, subject.value));
  const target = (matching?.target ?? switchDefault(def))?.id;
  if (typeof target !== 'string')
    return void setFailure(simulation, forecast, def, 'no case matches and there is no default');
  forecast.target = target;
  for (const id of targets) if (id !== target) simulation.skippedBy.set(id, { by, to: target });
  setOutput(simulation, forecast, { matched_case: matching?.match ?? null, matched_value: subject.value ?? null, target_step: target }); // prettier-ignore
}
