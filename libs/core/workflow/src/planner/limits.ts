import type { StepDefinition } from '../definition/workflow';
import { defaultExpressionLimits, type ExpressionLimits } from '../expressions/expression';

/** What bounds a run. See docs/reference/workflows.md#limits. */
export interface PlanLimits {
  /** Job steps of a run that may be out at once; 0 = any number. `resources.max_parallel_steps`. */
  maxParallelSteps: number;
  /** WORKFLOW_FOREACH_MAX_ITEMS. */
  maxItems: number;
  /** Rounds of a loop that names no number. */
  defaultRounds: number;
  maxRounds: number;
  maxCallDepth: number;
  /** Of the whole run, when its definition sets none; 0 = none. */
  runTimeoutMs: number;
  /** Of steps without a retry rule. */
  defaultMaxRetries: number;
  /** How long after its deadline a step is given up when nobody reported its end. */
  timeoutGraceMs: number;
  /** How long the end of a run waits for jobs that were told to stop. */
  cancelGraceMs: number;
  compensationTimeoutMs: number;
  /** Signals kept for steps that will wait for them. */
  keptSignals: number;
  /** Steps begun or ended within one pass: loops within loops of inline steps end here. */
  maxMovesPerPass: number;
  /** Those of the first pass over a definition object hold for all. */
  expressions: ExpressionLimits;
}

export const defaultPlanLimits: PlanLimits = {
  maxParallelSteps: 10,
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

/** Checks a value against a step's own or registered schema: what is wrong, or undefined. Must be a pure function. */
export type SchemaCheck = (step: StepDefinition, which: 'input' | 'output', value: unknown) => string | undefined;
