import { compileExpression } from '../expressions/compile-expression';
import { compileTemplate } from '../expressions/compile-template';
import { EvaluationError, type Expression, type ExpressionLimits, type Scope } from '../expressions/expression';
import { isList, isMapping } from '../expressions/values';
import { unwrapTracked, trackReads, type MissingPaths } from './track-reads';

/** Result of evaluating a source: a value, unknown before the run, or an error in any run. */
export type KnownResult =
  { kind: 'value'; value: unknown } | { kind: 'unknown'; why: string } | { kind: 'bad'; why: string };

/** Values known before a run begins: its input, and the outputs of some steps. */
export interface KnownScope {
  /** Known names and values; all others are unknown. */
  names: Readonly<Record<string, unknown>>;
  /** Known outputs by step; others are unknown. */
  outputs: ReadonlyMap<string, unknown>;
  nowMs: number;
  limits: ExpressionLimits;
  /** The time budget is used up: nothing more is evaluated. */
  isSpent(): boolean;
}

const outOfBudget: KnownResult = { kind: 'unknown', why: 'the workflow is too large to simulate completely' };

/** @param missing receives the missing paths that the expression reads */
export function evaluateExpression(known: KnownScope, source: string, missing: MissingPaths): KnownResult {
  if (known.isSpent()) return outOfBudget;
  const made = compileExpression(source, known.limits);
  if (made.kind === 'bad') return { kind: 'bad', why: made.fault.message };
  return evaluateReads(known, made.expression, missing, (scope) => made.expression.evaluate(scope));
}

export interface RenderResult {
  value: unknown;
  /** Templates left unrendered because they read unknown values. */
  unrendered: string[];
  bad?: string;
}

/** Renders the templates in a value; those that read unknown values stay as written. */
export function renderKnown(known: KnownScope, value: unknown, missing: MissingPaths): RenderResult {
  const unrendered: string[] = [];
  let bad: string | undefined;
  const render = (part: unknown): unknown => {
    if (typeof part === 'string') return part.includes('${') ? renderText(part) : part;
    if (isList(part)) return part.map((one) => render(one) ?? null);
    if (!isMapping(part)) return part;
    const entries = Object.entries(part).map(([key, one]): [string, unknown] => [key, render(one)]);
    return Object.fromEntries(entries.filter(([, one]) => one !== undefined));
  };
  const renderText = (text: string): unknown => {
    const made = known.isSpent() ? undefined : compileTemplate(text, known.limits);
    if (made?.kind !== 'ok') {
      if (made) bad ??= made.faults[0]?.message;
      else unrendered.push(text);
      return text;
    }
    const result = evaluateReads(known, made.template, missing, (scope) => made.template.render(scope));
    if (result.kind === 'value') return result.value;
    if (result.kind === 'bad') bad ??= `${text}: ${result.why}`;
    else unrendered.push(text);
    return text;
  };
  const rendered = render(value);
  return { value: rendered, unrendered, ...(bad !== undefined && { bad }) };
}

type ReadNames = Pick<Expression, 'names' | 'stepsRead'>;

function evaluateReads(
  known: KnownScope,
  reads: ReadNames,
  missing: MissingPaths,
  evaluate: (scope: Scope) => unknown,
): KnownResult {
  const { names, outputs, nowMs } = known;
  const step = reads.stepsRead.find((id) => !outputs.has(id));
  if (step !== undefined) {
    return {
      kind: 'unknown',
      why: step === '*' ? 'it depends on what steps return' : `it depends on what ${step} returns`,
    };
  }
  const name = reads.names.find((one) => one !== 'steps' && !Object.hasOwn(names, one));
  if (name !== undefined) return { kind: 'unknown', why: `${name} is known only when it runs` };
  const steps = reads.stepsRead.map((id): [string, unknown] => {
    return [id, { status: 'succeeded', output: trackReads(outputs.get(id), `steps.${id}.output`, missing) }];
  });
  const trackedNames = reads.names
    .filter((one) => one !== 'steps')
    .map((one): [string, unknown] => [one, trackReads(names[one], one, missing)]);
  try {
    const value = evaluate({ ...Object.fromEntries(trackedNames), steps: Object.fromEntries(steps), $now: nowMs });
    return { kind: 'value', value: unwrapTracked(value) };
  } catch (error) {
    if (!(error instanceof EvaluationError)) throw error;
    return { kind: 'bad', why: error.message };
  }
}
