import type { Expression, ExpressionFault, ExpressionLimits, Template } from '../expressions/expression';
import { isRecord, isTemplate } from './fields';
import type { Faults, Path } from './faults';
import { bodyKey } from './links';
import { typeOf, type StepDefinition } from './workflow';

export type CompiledExpression = { kind: 'ok'; expression: Expression } | { kind: 'bad'; fault: ExpressionFault };
export type CompiledTemplate =
  { kind: 'ok'; template: Template } | { kind: 'bad'; faults: (ExpressionFault & { path: string })[] };

/** How expressions and templates are understood. */
export interface ExpressionCompiler {
  compileExpression(source: string, limits?: ExpressionLimits): CompiledExpression;
  compileTemplate(value: unknown, limits?: ExpressionLimits): CompiledTemplate;
}

/** The expressions of a step, understood once. Those it does not have are absent. */
export interface CompiledStep {
  /** Guard; for a condition what is asked; for a switch what the cases are compared with. */
  condition?: Expression;
  forEach?: Expression;
  /** `input` without the expressions that a loop reads itself and without `output_mapping`. */
  input?: Template;
  /** Of a loop: what must hold before each round, and what ends it after one. */
  rounds?: { condition?: Expression; until?: Expression };
  /** Of a subworkflow. */
  outputMapping?: Template;
  compensationInput?: Template;
}

/** Where in a step an expression stands: that decides what it can see. */
export type Place = 'step' | 'items' | 'rounds' | 'child' | 'undo';

/** What an expression uses, and where. */
export interface Use {
  path: Path;
  place: Place;
  stepsRead: readonly string[];
  names: readonly string[];
}

interface Compiling {
  compiler: ExpressionCompiler;
  limits: ExpressionLimits | undefined;
  faults: Faults;
  uses: Use[];
}

/** Inputs of a loop that are expressions and not templates. */
const roundKeys = ['condition', 'while', 'until'];

export function compileStep(compiling: Compiling, step: StepDefinition, path: Path): CompiledStep {
  const { input, compensation } = step;
  const compiled: CompiledStep = {
    ...key('condition', expression(compiling, step.condition, [...path, 'condition'], 'step')),
    ...key('forEach', expression(compiling, step.for_each, [...path, 'for_each'], 'step')),
    ...key('compensationInput', template(compiling, compensation?.input, [...path, 'compensation', 'input'], 'undo')),
  };
  if (input === undefined) return compiled;
  const at = [...path, 'input'];
  const place: Place = typeOf(step) === 'loop' && bodyKey(step) === undefined ? 'rounds' : 'items';
  const { own, rest } = parted(step, input);
  return {
    ...compiled,
    ...key('input', template(compiling, rest, at, place)),
    ...key('outputMapping', template(compiling, own['output_mapping'], [...at, 'output_mapping'], 'child')),
    ...(typeOf(step) === 'loop' && { rounds: rounds(compiling, own, at) }),
  };
}

function rounds(
  compiling: Compiling,
  own: Record<string, unknown>,
  at: Path,
): { condition?: Expression; until?: Expression } {
  const before = own['condition'] === undefined ? 'while' : 'condition';
  return {
    ...key('condition', expression(compiling, own[before], [...at, before], 'rounds')),
    ...key('until', expression(compiling, own['until'], [...at, 'until'], 'rounds')),
  };
}

/** The parts of an input that a kind reads in its own way, and the rest, which is a template. */
function parted(step: StepDefinition, input: Record<string, unknown>) {
  const type = typeOf(step);
  const ownKeys = type === 'loop' ? roundKeys : type === 'subworkflow' ? ['output_mapping'] : [];
  const pick = (wanted: boolean) => Object.fromEntries(Object.entries(input).filter(([name]) => ownKeys.includes(name) === wanted)); // prettier-ignore
  return { own: pick(true), rest: ownKeys.length === 0 ? input : pick(false) };
}

export function expression(compiling: Compiling, source: unknown, path: Path, place: Place): Expression | undefined {
  if (typeof source !== 'string' || source === '') return undefined;
  const result = compiling.compiler.compileExpression(source, compiling.limits);
  if (result.kind === 'bad') return tell(compiling, path, result.fault);
  const { stepsRead, names } = result.expression;
  compiling.uses.push({ path, place, stepsRead, names });
  return result.expression;
}

export function template(compiling: Compiling, value: unknown, path: Path, place: Place): Template | undefined {
  if (!isRecord(value) && !isTemplate(value)) return undefined;
  const result = compiling.compiler.compileTemplate(value, compiling.limits);
  if (result.kind === 'bad') {
    for (const fault of result.faults) tell(compiling, [...path, ...partsOf(fault.path)], fault);
    return undefined;
  }
  const { stepsRead, names } = result.template;
  // Values without templates need no second look; where one stands in a large input is found by its parts.
  if (stepsRead.length > 0 || names.length > 0) compiling.uses.push(...usesOf(compiling, value, path, place));
  return result.template;
}

/** What each text of a template uses, so that a fault can name the text. */
function usesOf(compiling: Compiling, value: unknown, path: Path, place: Place): Use[] {
  if (typeof value === 'string') {
    if (!isTemplate(value)) return [];
    const result = compiling.compiler.compileTemplate(value, compiling.limits);
    return result.kind === 'ok' ? [{ path, place, stepsRead: result.template.stepsRead, names: result.template.names }] : []; // prettier-ignore
  }
  if (typeof value !== 'object' || value === null) return [];
  const parts: [string | number, unknown][] = Array.isArray(value) ? [...value.entries()] : Object.entries(value);
  return parts.flatMap(([name, part]) => usesOf(compiling, part, [...path, name], place));
}

function tell({ faults }: Compiling, path: Path, { message, line, column }: ExpressionFault): undefined {
  faults.add(path, `${message} (line ${line}, column ${column})`, { line, column });
}

/** `a.b[0]` as its parts. */
const partsOf = (path: string): (string | number)[] =>
  [...path.matchAll(/\[(\d+)\]|\["((?:[^"\\]|\\.)*)"\]|([^.[\]]+)/g)].map(([, index, quoted, name]) =>
    index === undefined ? (quoted ?? name ?? '') : Number(index),
  );

const key = <const Name extends string, T>(name: Name, value: T | undefined): { [N in Name]?: T } =>
  (value === undefined ? {} : { [name]: value }) as { [N in Name]?: T };
