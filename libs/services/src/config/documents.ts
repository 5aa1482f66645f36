import { AppError } from '@svc/contract';
import type { ConfigDocument, Store } from '@svc/store';
import type { Clock } from '../deps';

/** Where a document stands. Spec: "Config document". */
export type DocumentPlace = Pick<ConfigDocument, 'scope' | 'scope_id'>;

export interface ChangeDeps {
  store: Pick<Store, 'config'>;
  clock: Clock;
}

/** What a change makes of a document. */
export interface Change {
  data: ConfigDocument['data'];
  meta?: ConfigDocument['meta'];
}

const tries = 3;

/** The stored document, if there is one. */
export async function readDocument(
  { store }: Pick<ChangeDeps, 'store'>,
  { scope, scope_id }: DocumentPlace,
): Promise<ConfigDocument | undefined> {
  const [document] = await store.config.documents([[scope, scope_id]]);
  return document ?? undefined;
}

/** What is written in the place of a document that was read, or of none. */
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
 * Changes a document by compare-and-set. `change` gets what is stored and returns the whole of what is to be, or undefined to
 * leave it alone; it may be called more than once, and may throw to leave everything as it is. Operations contract 5; core
 * contract 8.
 *
 * @returns what was written
 * @throws config_version_conflict after three lost races
 */
export async function changeDocument(
  deps: ChangeDeps,
  place: DocumentPlace,
  change: (stored: ConfigDocument | undefined) => Change,
): Promise<ConfigDocument>;
export async function changeDocument(
  deps: ChangeDeps,
  place: DocumentPlace,
  change: (stored: ConfigDocument | undefined) => Change | undefined,
): Promise<ConfigDocument | undefined>;
export async function changeDocument(
  deps: ChangeDeps,
  place: DocumentPlace,
  change: (stored: ConfigDocument | undefined) => Change | undefined,
): Promise<ConfigDocument | undefined> {
  for (let i = 0; i < tries; i++) {
    const stored = await readDocument(deps, place);
    const changed = change(stored);
    if (!changed) return undefined;
    const next = successor(deps, place, stored, changed);
    if (await deps.store.config.replace(next, stored?.revision ?? 0)) return next;
  }
  throw new AppError('config_version_conflict');
}
