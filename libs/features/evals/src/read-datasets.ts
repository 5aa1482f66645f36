import {
  AppError,
  type Caller,
  type EvalDatasetItem,
  type EvalDatasetsQuery,
  type EvalDatasetView,
} from '@svc/contract';
import { JsonText } from '@svc/http';
import type { StoredDataset } from './dataset.repository';
import { type EvalDeps, isVisible, toInstant } from './eval-deps';

type ReadDeps = Pick<EvalDeps, 'datasets'>;

/** The last part of POST evals/datasets/from-incidents, which is not the id of a dataset. */
const actionName = 'from-incidents';

/** @throws method_not_allowed, eval_dataset_not_found */
export async function requireDataset({ datasets }: ReadDeps, caller: Caller, id: string): Promise<StoredDataset> {
  if (id === actionName) throw new AppError('method_not_allowed', {}, { Allow: 'POST' });
  const dataset = await datasets.load(id);
  if (!dataset || !isVisible(caller, dataset.tenant)) throw new AppError('eval_dataset_not_found');
  return dataset;
}

export function toDatasetItem({ createdUs, ...dataset }: StoredDataset): EvalDatasetItem {
  const { id, name, version, tenant, description, created_by, entry_count, content_hash } = dataset;
  const created_at = toInstant(createdUs);
  return {
    id,
    name,
    version,
    tenant,
    description,
    created_at,
    updated_at: created_at,
    created_by,
    entry_count,
    content_hash,
  };
}

/** A dataset with its entries, which are stored as JSON. @throws method_not_allowed, eval_dataset_not_found */
export async function getDataset(deps: ReadDeps, caller: Caller, id: string): Promise<JsonText<EvalDatasetView>> {
  return withEntries(deps, await requireDataset(deps, caller, id));
}

/** @throws eval_dataset_not_found */
export async function getVersion(
  deps: ReadDeps,
  caller: Caller,
  { name, version }: { name: string; version: string },
): Promise<JsonText<EvalDatasetView>> {
  const id = await deps.datasets.idOfVersion(caller.tenant, name, version);
  if (id === undefined) throw new AppError('eval_dataset_not_found');
  return withEntries(deps, await requireDataset(deps, caller, id));
}

async function withEntries({ datasets }: ReadDeps, dataset: StoredDataset): Promise<JsonText<EvalDatasetView>> {
  const entries = await datasets.entriesText(dataset.id);
  if (entries === undefined) throw new AppError('eval_dataset_not_found');
  return new JsonText(`${JSON.stringify(toDatasetItem(dataset)).slice(0, -1)},"entries":${entries}}`);
}

/** Datasets of the caller's tenant, newest first. */
export async function listDatasets(
  { datasets }: ReadDeps,
  { tenant }: Caller,
  { name_prefix = '', created_after, created_before, limit, cursor }: EvalDatasetsQuery,
): Promise<{ items: EvalDatasetItem[]; next_cursor: string }> {
  const refs = await datasets.list(tenant, {
    ...(created_after !== undefined && { fromMs: created_after }),
    ...(created_before !== undefined && { toMs: created_before }),
    ...(cursor !== undefined && { beforeUs: Number(cursor) }),
  });
  const fitting = refs.filter(({ name }) => name.startsWith(name_prefix));
  const shown = fitting.slice(0, limit);
  const last = shown.at(-1);
  const items = await loadItems({ datasets }, shown);
  return { items, next_cursor: fitting.length > limit && last ? String(last.createdUs) : '' };
}

/** All versions of a name, newest first. @throws eval_dataset_not_found */
export async function listVersions(
  { datasets }: ReadDeps,
  { tenant }: Caller,
  wanted: string,
): Promise<{ items: EvalDatasetItem[] }> {
  const versions = (await datasets.list(tenant)).filter(({ name }) => name === wanted);
  if (versions.length === 0) throw new AppError('eval_dataset_not_found');
  return {
    items: await loadItems(
      { datasets },
      versions.sort((a, b) => b.version - a.version),
    ),
  };
}

/** Datasets that were removed in between are left out. */
async function loadItems({ datasets }: ReadDeps, refs: readonly { id: string }[]): Promise<EvalDatasetItem[]> {
  const loaded = await Promise.all(refs.map(({ id }) => datasets.load(id)));
  return loaded.flatMap((dataset) => (dataset ? [toDatasetItem(dataset)] : []));
}
