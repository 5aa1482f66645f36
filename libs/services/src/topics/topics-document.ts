import { AppError } from '@svc/contract';
import type { ConfigDocument, Store } from '@svc/store';
import type { Clock, Fleet } from '../deps';
import { entriesOf } from './registration';

export interface DocumentDeps {
  store: Pick<Store, 'config'>;
  clock: Clock;
  fleet: Fleet;
}

/** Where the registry stands among the config documents. */
export const topicsScope = { scope: 'system', scope_id: 'topics' } as const;
const tries = 3;

type Data = ConfigDocument['data'];

/**
 * The registry's document. When there is none it is filled, once, from the pools file; a pools file without topics leaves it
 * away, so that every topic is accepted. Core contract 6.3.
 */
export async function readTopics(deps: DocumentDeps): Promise<Data> {
  const stored = await read(deps);
  if (stored) return stored.data;
  const data: Data = entriesOf(deps.fleet.pools());
  if (Object.keys(data).length === 0) return data;
  // Of several that start at once one writes; the others read what it wrote.
  if (await deps.store.config.replace(next(deps, undefined, data), 0)) return data;
  return (await read(deps))?.data ?? {};
}

/**
 * Changes the registry by compare-and-set. `change` returns all entries as they are to be; it may be called more than once.
 *
 * @throws config_version_conflict after three lost races
 */
export async function changeTopics(deps: DocumentDeps, change: (data: Readonly<Data>) => Data): Promise<void> {
  for (let i = 0; i < tries; i++) {
    const stored = await read(deps);
    const data = change(stored?.data ?? entriesOf(deps.fleet.pools()));
    if (await deps.store.config.replace(next(deps, stored, data), stored?.revision ?? 0)) return;
  }
  throw new AppError('config_version_conflict');
}

async function read({ store }: DocumentDeps): Promise<ConfigDocument | undefined> {
  const [document] = await store.config.documents([[topicsScope.scope, topicsScope.scope_id]]);
  return document ?? undefined;
}

const next = ({ clock }: DocumentDeps, stored: ConfigDocument | undefined, data: Data): ConfigDocument => ({
  ...topicsScope,
  data,
  revision: (stored?.revision ?? 0) + 1,
  updated_at: new Date(clock.nowMs()).toISOString(),
  meta: stored?.meta ?? {},
});
