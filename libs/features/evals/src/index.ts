/** Evaluation datasets: jobs with the decision that policy should make, and runs of policies on them. */
export { DatasetRepository } from './dataset.repository';
export type { ExecuteDeps } from './eval-deps';
export { executeEvalRun } from './execute-run';
export type { ExtractDeps } from './extract-dataset';
export { evalRoutes, type EvalContext } from './routes';
export { EvalRunRepository } from './run.repository';
