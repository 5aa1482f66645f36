import { compileExpression } from '../expressions/compile-expression';
import { compileTemplate } from '../expressions/compile-template';
import { EvaluationError, type Expression, type ExpressionLimits, type Scope } from '../expressions/expression';
import { isList, isMapping } from '../expressions/values';
import { unwatched, watched, type Missing } from './track-reads';

/** What a source comes to: a value, nothing that could be told beforehand, or an error whatever comes. */
export type Reading =
  { kind: 'value'; value: unknown } | { kind: 'unknown'; why: string } | { kind: 'bad'; why: string };

/** What is known before a run begins: its input, and what some steps will give. */
export interface Known {
  /** Names and their values; all others are not known. */
  names: Readonly<Record<string, unknown>>;
  /** Outputs by step; of a step that is not in here nothing is known. */
  outputs: ReadonlyMap<string, unknown>;
  nowMs: number;
  limits: ExpressionLimits;
  /** Nothing more is worked out once this holds. */
  isSpent(): boolean;
}

const tooMuch: Reading = { kind: 'unknown', why: 'there is too much to work out beforehand' };

/** @param missing gets what the expression looks for in vain */
export function readExpression(known: Known, source: string, missing: Missing): Reading {
  if (known.isSpent()) return tooMuch;
  const made = compileExpression(source, known.limits);
  if (made.kind === 'bad') return { kind: 'bad', why: made.fault.message };
  return read(known, made.expression, missing, (scope) => made.expression.evaluate(scope));
}

export interface Rendered {
  value: unknown;
  /** Texts that stand as they were written, since what they read is not known. */
  open: string[];
  bad?: string;
}

/** A value with templates, text by text: what cannot be told beforehand stays as it is written. */
export function readTemplate(known: Known, value: unknown, missing: Missing): Rendered {
  const open: string[] = [];
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
      else open.push(text);
      return text;
    }
    const reading = read(known, made.template, missing, (scope) => made.template.render(scope));
    if (reading.kind === 'value') return reading.value;
    if (reading.kind === 'bad') bad ??= `${text}: ${reading.why}`;
    else open.push(text);
    return text;
  };
  const rendered = render(value);
  return { value: rendered, open, ...(bad !== undefined && { bad }) };
}

type Reads = Pick<Expression, 'names' | 'stepsRead'>;

function read(known: Known, reads: Reads, missing: Missing, evaluate: (scope: Scope) => unknown): Reading {
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
    return [id, { status: 'succeeded', output: watched(outputs.get(id), `steps.${id}.output`, missing) }];
  });
  const watchedNames = reads.names
    .filter((one) => one !== 'steps')
    .map((one): [string, unknown] => [one, watched(names[one], one, missing)]);
  try {
    const value = evaluate({ ...Object.fromEntries(watchedNames), steps: Object.fromEntries(steps), $now: nowMs });
    return { kind: 'value', value: unwatched(value) };
  } catch (error) {
    if (!(error instanceof EvaluationError)) throw error;
    return { kind: 'bad', why: error.message };
  }
}
