import type { StepDefinition } from '../definition/workflow';
import { defaultExpressionLimits, type ExpressionLimits } from '../expressions/expression';

/** Limits of a run. See docs/reference/workflows.md#limits. */
export interface PlanLimits {
  /** Concurrent job steps of a run; 0 = unlimited. `resources.max_parallel_steps`. */
  maxParallelSteps: number;
  /** Jobs that one plan dispatches; those for which it has no room are dispatched after the event `continue`. */
  maxDispatches: number;
  /** WORKFLOW_FOREACH_MAX_ITEMS. */
  maxItems: number;
  /** Rounds of a loop without `max_iterations`. */
  defaultRounds: number;
  maxRounds: number;
  maxCallDepth: number;
  /** Of the whole run, when its definition sets none; 0 = none. */
  runTimeoutMs: number;
  /** Of steps without a retry rule. */
  defaultMaxRetries: number;
  /** Time after its deadline until a step without a reported end times out. */
  timeoutGraceMs: number;
  /** How long an ending run waits for cancelled jobs. */
  cancelGraceMs: number;
  compensationTimeoutMs: number;
  /** Signals kept for steps that may wait for them later. */
  keptSignals: number;
  /** Steps begun or ended within one pass; bounds nested loops of inline steps. */
  maxMovesPerPass: number;
  /** Fixed at the first pass over a definition object. */
  expressions: ExpressionLimits;
}

export const defaultPlanLimits: PlanLimits = {
  maxParallelSteps: 10,
  maxDispatches: Infinity,
  maxItems: 1_000,
  defaultRounds: 100,
  maxRounds: 10_000,
  maxCallDepth: 10,
  runTimeoutMs: 0,
  defaultMaxRetries: 0,
  timeoutGraceMs: 30_000,
  cancelGraceMs: 30_000,
  compensationTimeoutMs: 30_000,
  keptSignals: 100,
  maxMovesPerPass: 200_000,
  expressions: defaultExpressionLimits,
};

/** Checks a value against a step's own or registered schema. Returns the violation, or undefined. Must be a pure function. */
export type SchemaCheck = (step: StepDefinition, which: 'input' | 'output', value: unknown) => string | undefined;
