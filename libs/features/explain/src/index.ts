/** Explains why a job or a run waits, and what happens next. */
export type { ExplainRunDeps } from './gather-run-facts';
export { readJobExplanation, readRunExplanation } from './read-explanations';
export { explainRoutes, type ExplainContext } from './routes';
