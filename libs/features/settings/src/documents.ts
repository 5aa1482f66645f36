import { AppError } from '@svc/contract';
import { describeContent, type ConfigDocument, type Store } from '@svc/store';
import type { Clock } from '@svc/platform';

/** Scope and id of a document. */
export type DocumentPlace = Pick<ConfigDocument, 'scope' | 'scope_id'>;

export interface ChangeDeps {
  store: Pick<Store, 'config'>;
  clock: Clock;
}

/** The new content of a document. */
export interface Change {
  data: ConfigDocument['data'];
  meta?: ConfigDocument['meta'];
}

/** Compare-and-set: false when the document no longer has the revision that was read. */
export type Replace = (next: ConfigDocument, readRevision: number) => Promise<boolean>;

const tries = 3;

/** The stored document, if there is one. */
export async function readDocument(
  { store }: Pick<ChangeDeps, 'store'>,
  { scope, scope_id }: DocumentPlace,
): Promise<ConfigDocument | undefined> {
  const [document] = await store.config.documents([[scope, scope_id]]);
  return document ?? undefined;
}

/** The next revision of a document, or its first. */
export const successor = (
  { clock }: Pick<ChangeDeps, 'clock'>,
  { scope, scope_id }: DocumentPlace,
  stored: ConfigDocument | undefined,
  { data, meta }: Change,
): ConfigDocument => ({
  scope,
  scope_id,
  data,
  revision: (stored?.revision ?? 0) + 1,
  updated_at: new Date(clock.nowMs()).toISOString(),
  meta: meta ?? stored?.meta ?? {},
});

/**
 * Changes a document by compare-and-set. `change` gets the stored document and returns its whole new content, or undefined
 * to leave it unchanged; it may be called more than once, and may throw to abort.
 * See docs/reference/config.md#documents.
 *
 * @param replace writes more than the document in the same transaction
 * @returns the written document
 * @throws config_version_conflict after three lost races
 */
export async function changeDocument(
  deps: ChangeDeps,
  place: DocumentPlace,
  change: (stored: ConfigDocument | undefined) => Change,
  replace?: Replace,
): Promise<ConfigDocument>;
export async function changeDocument(
  deps: ChangeDeps,
  place: DocumentPlace,
  change: (stored: ConfigDocument | undefined) => Change | undefined,
  replace?: Replace,
): Promise<ConfigDocument | undefined>;
export async function changeDocument(
  deps: ChangeDeps,
  place: DocumentPlace,
  change: (stored: ConfigDocument | undefined) => Change | undefined,
  replace: Replace = (next, revision) => deps.store.config.replace(next, revision),
): Promise<ConfigDocument | undefined> {
  for (let i = 0; i < tries; i++) {
    const stored = await readDocument(deps, place);
    const changed = change(stored);
    if (!changed) return undefined;
    const next = successor(deps, place, stored, changed);
    describeContent(next.data, stored?.data);
    if (await replace(next, stored?.revision ?? 0)) return next;
  }
  throw new AppError('config_version_conflict');
}
