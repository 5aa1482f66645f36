import { compileExpression } from './compile-expression';
import { compileTemplate } from './compile-template';
import type { Expression, ExpressionLimits, Scope, Template } from './expression';

/** An expression that must compile. */
export function expression(source: string, limits?: ExpressionLimits): Expression {
  const made = compileExpression(source, limits);
  if (made.kind === 'ok') return made.expression;
  throw new Error(`${source}: ${made.fault.message} at ${made.fault.line}:${made.fault.column}`);
}

export const evaluateSource = (source: string, scope: Scope = {}): unknown => expression(source).evaluate(scope);

/** `message @line:column` of a source that must not compile. */
export function getFault(source: string, limits?: ExpressionLimits): string {
  const made = compileExpression(source, limits);
  if (made.kind === 'ok') throw new Error(`${source} compiles`);
  return `${made.fault.message} @${made.fault.line}:${made.fault.column}`;
}

/** A template that must compile. */
export function template(value: unknown, limits?: ExpressionLimits): Template {
  const made = compileTemplate(value, limits);
  if (made.kind === 'ok') return made.template;
  throw new Error(made.faults.map(({ path, message }) => `${path}: ${message}`).join('; '));
}

export const rendered = (value: unknown, scope: Scope = {}): unknown => template(value).render(scope);
