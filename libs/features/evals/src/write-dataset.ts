import { buildAudit } from '@svc/audit';
import {
  AppError,
  evalLimits,
  type Caller,
  type EvalDatasetBody,
  type EvalDatasetItem,
  type EvalEntry,
  type EvalSuccessorBody,
} from '@svc/contract';
import { writerName } from '@svc/identity';
import { canonicalJson } from '@svc/json';
import { describeAct } from '@svc/store';
import { createHash } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import { compressJson } from './compressed-json';
import type { EvalDeps } from './eval-deps';
import { requireDataset, toDatasetItem } from './read-datasets';

/** A dataset to store. */
export interface NewDataset {
  tenant: string;
  name: string;
  /** 0 = the next one. */
  version: number;
  description: string;
  entries: readonly EvalEntry[];
}

/**
 * Stores a dataset as a version of its name. See docs/reference/evals.md#datasets.
 *
 * @throws eval_dataset_invalid, eval_dataset_version_conflict, eval_dataset_too_large, eval_storage_full, overloaded
 */
export async function createDataset(deps: EvalDeps, caller: Caller, body: EvalDatasetBody): Promise<EvalDatasetItem> {
  return storeDataset(deps, caller, { tenant: caller.tenant, ...body });
}

/** Stores changed entries as another version. @throws eval_dataset_not_found, and the codes of `createDataset` */
export async function replaceDataset(
  deps: EvalDeps,
  caller: Caller,
  id: string,
  { version, description, entries }: EvalSuccessorBody,
): Promise<EvalDatasetItem> {
  const before = await requireDataset(deps, caller, id);
  const { tenant, name } = before;
  return storeDataset(deps, caller, { tenant, name, version, description: description ?? before.description, entries });
}

/** @throws the codes of `createDataset` */
export async function storeDataset(deps: EvalDeps, caller: Caller, dataset: NewDataset): Promise<EvalDatasetItem> {
  const { tenant, name, version, description } = dataset;
  requireUniqueIds(dataset.entries);
  const text = await toCanonicalText(dataset.entries, tenant);
  const head = {
    description,
    created_by: writerName(caller),
    entry_count: dataset.entries.length,
    content_hash: createHash('sha256').update(text).digest('hex'),
  };
  const entries = await compressJson(text);
  const id = deps.random.uuid();
  const audit = buildAudit(deps, caller, {
    action: 'create',
    resource_type: 'eval_dataset',
    resource_id: id,
    resource_name: name,
    extra: { content_hash: head.content_hash, entry_count: String(head.entry_count) },
  });
  describeAct({}, { after_hash: head.content_hash });
  const outcome = await deps.admission.data(tenant, entries.length, () =>
    deps.datasets.write({ id, tenant, name, version, head, entries, audit }),
  );
  switch (outcome.kind) {
    case 'taken':
      throw new AppError('eval_dataset_version_conflict');
    case 'full':
      throw new AppError('eval_storage_full', { limit: outcome.of === 'bytes' ? 'stored_bytes' : 'datasets' });
    case 'written':
      return toDatasetItem({ ...head, id, tenant, name, version: outcome.version, createdUs: outcome.createdUs });
  }
}

/** @throws eval_dataset_invalid */
function requireUniqueIds(entries: readonly EvalEntry[]): void {
  const seen = new Set<string>();
  for (const [i, { id }] of entries.entries()) {
    if (seen.has(id)) {
      const message = 'another entry has this id';
      throw new AppError('eval_dataset_invalid', {
        violations: [{ in: 'body', field: 'entries', path: `entries[${i}].id`, message }],
      });
    }
    seen.add(id);
  }
}

const entriesPerTurn = 100;

/**
 * The entries as stored and hashed: canonical JSON, with the tenant of the dataset. Other requests are served in between.
 *
 * @throws eval_dataset_too_large
 */
async function toCanonicalText(entries: readonly EvalEntry[], tenant: string): Promise<string> {
  const texts: string[] = [];
  let size = 2;
  for (const [i, entry] of entries.entries()) {
    const text = canonicalJson({ ...entry, input: { ...entry.input, tenant } });
    size += Buffer.byteLength(text) + 1;
    if (size > 2 * evalLimits.bodyBytes)
      throw new AppError('eval_dataset_too_large', { limit_bytes: evalLimits.bodyBytes });
    texts.push(text);
    if (i % entriesPerTurn === entriesPerTurn - 1) await setImmediate();
  }
  return `[${texts.join(',')}]`;
}
