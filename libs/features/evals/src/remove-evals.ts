import { buildAudit } from '@svc/audit';
import { AppError, type Caller, type ForceQuery } from '@svc/contract';
import { describeAct } from '@svc/store';
import type { EvalDeps } from './eval-deps';
import { requireDataset } from './read-datasets';
import { missingCodes, requireRun } from './read-runs';
import type { RunKind } from './run.repository';

/** Removes a dataset; its runs stay readable until they expire. @throws eval_dataset_not_found, invalid_body */
export async function removeDataset(deps: EvalDeps, caller: Caller, id: string, query: ForceQuery): Promise<void> {
  const dataset = await requireDataset(deps, caller, id);
  requireForce(query);
  const audit = buildAudit(deps, caller, {
    action: 'delete',
    resource_type: 'eval_dataset',
    resource_id: id,
    resource_name: dataset.name,
    extra: { version: String(dataset.version), content_hash: dataset.content_hash },
  });
  describeAct({}, { before_hash: dataset.content_hash });
  if (!(await deps.datasets.remove(dataset, deps.evalRuns.keepMs, audit))) throw new AppError('eval_dataset_not_found');
}

/** Removes a run or a comparison. @throws eval_run_not_found, eval_comparison_not_found, invalid_body */
export async function removeRun(
  deps: EvalDeps,
  caller: Caller,
  { id, kind }: { id: string; kind: RunKind },
  query: ForceQuery,
): Promise<void> {
  const run = await requireRun(deps, caller, id, kind);
  requireForce(query);
  const audit = buildAudit(deps, caller, {
    action: 'delete',
    resource_type: 'eval_run',
    resource_id: id,
    resource_name: run.dataset_name,
    extra: { kind, dataset_id: run.dataset },
  });
  if (!(await deps.evalRuns.remove(run, audit))) throw new AppError(missingCodes[kind]);
}

/** @throws invalid_body */
function requireForce({ force }: ForceQuery): void {
  if (force) return;
  const message = 'the deletion is final: confirm it with force=true';
  throw new AppError('invalid_body', {
    error: message,
    violations: [{ in: 'query', field: 'force', path: 'force', message }],
  });
}
