import * as contract from '@svc/contract';
import { handlersFor } from '@svc/http';
import type { ExplainRunDeps } from './gather-run-facts';
import { readJobExplanation, readRunExplanation } from './read-explanations';

/** Dependencies of these handlers. */
export interface ExplainContext {
  explain: ExplainRunDeps;
}

const handle = handlersFor<ExplainContext>();

/** Explanations of jobs and runs. */
export const explainRoutes = [
  handle(contract.explainJob, ({ params, caller, ctx }) => readJobExplanation(ctx.explain, caller.scope, params.id)),
  handle(contract.explainRun, ({ params, caller, ctx }) => readRunExplanation(ctx.explain, caller.scope, params.id)),
];
