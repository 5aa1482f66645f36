import { outsideAct, type ConfigDocument } from '@svc/store';
import { type ChangeDeps, changeDocument, readDocument, successor } from '@svc/settings';
import type { Fleet } from '@svc/platform';
import { buildEntries } from './registration';

export interface DocumentDeps extends ChangeDeps {
  fleet: Fleet;
}

/** The registry's document among the config documents. */
export const topicsScope = { scope: 'system', scope_id: 'topics' } as const;

type Data = ConfigDocument['data'];

/**
 * The registry's document. If it does not exist it is created, once, from the pools file; a pools file without topics creates
 * none, so that every topic is accepted. See docs/reference/routing.md#topics.
 */
export async function readTopics(deps: DocumentDeps): Promise<Data> {
  const stored = await readDocument(deps, topicsScope);
  if (stored) return stored.data;
  const data: Data = buildEntries(deps.fleet.pools());
  if (Object.keys(data).length === 0) return data;
  // When several start at once, one writes and the others read its document.
  const first = successor(deps, topicsScope, undefined, { data });
  if (await outsideAct(() => deps.store.config.replace(first, 0))) return data;
  return (await readDocument(deps, topicsScope))?.data ?? {};
}

/**
 * Changes the registry by compare-and-set. `change` returns all new entries; it may be called more than once.
 *
 * @throws config_version_conflict after three lost races
 */
export async function changeTopics(deps: DocumentDeps, change: (data: Readonly<Data>) => Data): Promise<void> {
  await changeDocument(deps, topicsScope, (stored) => ({
    data: change(stored?.data ?? buildEntries(deps.fleet.pools())),
  }));
}
