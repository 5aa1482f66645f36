/** Names an expression may begin with. See docs/reference/workflows.md#expressions. */
export type Scope = Readonly<Record<string, unknown>>;

export interface ExpressionLimits {
  /** Characters of the source. WORKFLOW_EXPR_MAX_LENGTH. */
  maxLength: number;
  /** Items of a resulting list or map. WORKFLOW_EXPR_MAX_RESULT_ITEMS. */
  maxResultItems: number;
  /** ms. WORKFLOW_EXPR_TIMEOUT_MS; enforced by counting steps, as no timer interrupts an evaluation. */
  timeoutMs: number;
}

export const defaultExpressionLimits: ExpressionLimits = { maxLength: 4_096, maxResultItems: 10_000, timeoutMs: 100 };

/** A fault in a source: message and position, counted from 1. */
export interface ExpressionFault {
  message: string;
  line: number;
  column: number;
}

/** A compiled source. Side-effect free, own properties only, bounded in time. */
export interface Expression {
  source: string;
  /** Steps it reads, as in `steps.weigh.output`; `'*'` when it reads them by a computed name. */
  stepsRead: readonly string[];
  /** Root names it uses: `input`, `ctx`, `item`, ... */
  names: readonly string[];
  /** @throws EvaluationError with a message for the author */
  evaluate(scope: Scope): unknown;
}

/** A value with templates in its strings, prepared: `${ expr }`; a string that is one template keeps the value's type. */
export interface Template {
  stepsRead: readonly string[];
  names: readonly string[];
  /** Map entries whose value is absent are dropped. @throws EvaluationError */
  render(scope: Scope): unknown;
}

export class EvaluationError extends Error {}

/** false: null, absent, false, '', 0, empty list or map. */
export function isTruthy(value: unknown): boolean {
  if (value === null || value === undefined || value === false || value === '' || value === 0) return false;
  if (Array.isArray(value)) return value.length > 0;
  return typeof value !== 'object' || Object.keys(value).length > 0;
}
