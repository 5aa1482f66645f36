import * as contract from '@svc/contract';
import { answer, handlersFor } from '@svc/http';
import { toReport } from './comparison-report';
import { type ExtractDeps, extractDataset } from './extract-dataset';
import { getDataset, getVersion, listDatasets, listVersions } from './read-datasets';
import { listComparisons, listEvalRuns, readComparison, readEvalRun } from './read-runs';
import { removeDataset, removeRun } from './remove-evals';
import { startComparison, startEvalRun } from './start-run';
import { createDataset, replaceDataset } from './write-dataset';

/** Dependencies of these handlers. */
export interface EvalContext {
  evals: ExtractDeps;
}

const handle = handlersFor<EvalContext>();

/** For a body that is declared for another status than the first. */
const withStatus = <Body>(status: number, body: unknown) => answer(body as Body, { status });

/** Evaluation datasets, runs and comparisons. */
export const evalRoutes = [
  handle(contract.createDataset, ({ body, caller, ctx }) => createDataset(ctx.evals, caller, body)),
  handle(contract.listDatasets, ({ query, caller, ctx }) => listDatasets(ctx.evals, caller, query)),
  handle(contract.extractDataset, async ({ query, body, caller, ctx }) => {
    const dry_run = body.dry_run || query.dry_run;
    const { view, isStored } = await extractDataset(ctx.evals, caller, { ...body, dry_run });
    return isStored ? view : answer(view, { status: 200 });
  }),
  handle(contract.getDataset, ({ params, caller, ctx }) => getDataset(ctx.evals, caller, params.id)),
  handle(contract.putDataset, ({ params, body, caller, ctx }) => replaceDataset(ctx.evals, caller, params.id, body)),
  handle(contract.removeDataset, ({ params, query, caller, ctx }) =>
    removeDataset(ctx.evals, caller, params.id, query),
  ),
  handle(contract.listVersions, ({ params, caller, ctx }) => listVersions(ctx.evals, caller, params.name)),
  handle(contract.getVersion, ({ params, caller, ctx }) => getVersion(ctx.evals, caller, params)),
  handle(contract.runDataset, async ({ params, body, caller, ctx }) => {
    const outcome = await startEvalRun(ctx.evals, caller, params.id, body);
    return outcome.kind === 'ended' ? outcome.result : withStatus(202, outcome.started);
  }),
  handle(contract.listEvalRuns, ({ params, query, caller, ctx }) => listEvalRuns(ctx.evals, caller, params.id, query)),
  handle(contract.getEvalRun, async ({ params, caller, ctx }) => {
    const reading = await readEvalRun(ctx.evals, caller, params.id);
    if (reading.kind === 'completed') return reading.result;
    return answer(reading.state, { status: reading.state.status === 'failed' ? 200 : 202 });
  }),
  handle(contract.removeEvalRun, ({ params, query, caller, ctx }) =>
    removeRun(ctx.evals, caller, { id: params.id, kind: 'run' }, query),
  ),
  handle(contract.compareOnDataset, async ({ params, body, caller, ctx }) => {
    const outcome = await startComparison(ctx.evals, caller, params.id, body);
    return outcome.kind === 'ended' ? outcome.result : withStatus(202, outcome.started);
  }),
  handle(contract.listComparisons, ({ params, query, caller, ctx }) =>
    listComparisons(ctx.evals, caller, params.id, query),
  ),
  handle(contract.getComparison, async ({ params, caller, ctx }) => {
    const reading = await readComparison(ctx.evals, caller, params.id);
    if (reading.kind === 'completed') return reading.result;
    return answer(reading.state, { status: reading.state.status === 'failed' ? 200 : 202 });
  }),
  handle(contract.comparisonReport, async ({ params, caller, ctx }) => {
    const reading = await readComparison(ctx.evals, caller, params.id);
    const { id } = params;
    if (reading.kind === 'completed') return { comparison_id: id, markdown: toReport(reading.result) };
    if (reading.state.status !== 'failed') return withStatus(202, reading.state);
    return { comparison_id: id, markdown: `The comparison failed: ${reading.state.error ?? 'unknown reason'}.` };
  }),
  handle(contract.removeComparison, ({ params, query, caller, ctx }) =>
    removeRun(ctx.evals, caller, { id: params.id, kind: 'comparison' }, query),
  ),
];
