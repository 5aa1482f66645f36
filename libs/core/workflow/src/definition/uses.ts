import { compileExpression } from '../expressions/compile-expression';
import { compileTemplate } from '../expressions/compile-template';
import type { ExpressionFault, ExpressionLimits } from '../expressions/expression';
import type { Faults, Path } from './faults';
import { isTemplate } from './fields';
import { limitKinds } from './limit-fields';
import { bodyKey } from './links';
import { getStepType, type StepDefinition } from './workflow';

/**
 * Position of an expression in a step, which determines the names it can read: `items` is evaluated for each item of a fan-out,
 * `rounds` around each round of a loop, `child` after a subworkflow, `undo` when the run is rolled back.
 */
export type ExpressionPosition = 'step' | 'items' | 'rounds' | 'child' | 'undo';

/** A name that an expression reads, with its position. */
export interface Use {
  path: Path;
  place: ExpressionPosition;
  stepsRead: readonly string[];
  names: readonly string[];
}

/** Compiles expressions, collects their references, and reports faults. */
export class UseReader {
  readonly uses: Use[] = [];

  constructor(
    private readonly limits: ExpressionLimits | undefined,
    private readonly faults: Faults,
  ) {}

  expression(source: unknown, path: Path, place: ExpressionPosition): void {
    if (typeof source !== 'string' || source === '') return;
    const result = compileExpression(source, this.limits);
    if (result.kind === 'bad') return this.report(path, result.fault);
    const { stepsRead, names } = result.expression;
    this.uses.push({ path, place, stepsRead, names });
  }

  /** Compiles each string separately, so that each fault has the path of its string. */
  template(value: unknown, path: Path, place: ExpressionPosition): void {
    if (typeof value === 'string') return this.text(value, path, place);
    if (typeof value !== 'object' || value === null) return;
    const parts: [string | number, unknown][] = Array.isArray(value) ? [...value.entries()] : Object.entries(value);
    for (const [name, part] of parts) this.template(part, [...path, name], place);
  }

  private text(text: string, path: Path, place: ExpressionPosition): void {
    if (!isTemplate(text)) return;
    const result = compileTemplate(text, this.limits);
    if (result.kind === 'bad') return result.faults.forEach((fault) => this.report(path, fault));
    const { stepsRead, names } = result.template;
    this.uses.push({ path, place, stepsRead, names });
  }

  private report(path: Path, { message, line, column }: ExpressionFault): void {
    this.faults.add(path, `${message} (line ${line}, column ${column})`, { line, column });
  }
}

/** Every expression and template of a step. See docs/reference/workflows.md#steps. */
export function readUses(reader: UseReader, step: StepDefinition, path: Path): void {
  reader.expression(step.condition, [...path, 'condition'], 'step');
  reader.expression(step.for_each, [...path, 'for_each'], 'step');
  reader.template(step.compensation?.input, [...path, 'compensation', 'input'], 'undo');
  const asRounds = getStepType(step) === 'loop' && bodyKey(step) === undefined;
  for (const kind of limitKinds)
    reader.template(step[kind]?.key, [...path, kind, 'key'], asRounds ? 'rounds' : 'items');
  for (const [key, value] of Object.entries(step.input ?? {}))
    readInput(reader, step, key, value, [...path, 'input', key]);
}

/** Inputs of a loop that are expressions, not templates. */
const roundKeys = ['condition', 'while', 'until'];

function readInput(reader: UseReader, step: StepDefinition, key: string, value: unknown, path: Path): void {
  const type = getStepType(step);
  if (type === 'loop' && roundKeys.includes(key)) return reader.expression(value, path, 'rounds');
  if (type === 'loop' && bodyKey(step) === undefined) return reader.template(value, path, 'rounds');
  if (type === 'subworkflow' && key === 'output_mapping') return reader.template(value, path, 'child');
  reader.template(value, path, 'items');
}
