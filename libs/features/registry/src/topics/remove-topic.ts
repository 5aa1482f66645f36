import { AppError, type Caller } from '@svc/contract';
import { announceChange, type AnnounceDeps } from '@svc/settings';
import { changePools, isPoolWriter, type PoolWriteDeps } from '../pools/change-pools';
import { withPools } from '../pools/map-topic';
import { entryKey, readEntries } from './registration';
import { changeTopics, type DocumentDeps, readTopics, topicsScope } from './topics-document';

export type TopicRemoveDeps = DocumentDeps & PoolWriteDeps;

/**
 * Removes a registration of the caller's own tenant; a global one of the same name becomes visible again. If no other entry
 * has the name and the caller manages pools, the topic is also removed from the pools.
 * See docs/reference/routing.md#topics.
 *
 * @throws topic_not_found, config_version_conflict, pool_version_conflict, pool_invalid_config
 */
export async function removeTopic(deps: TopicRemoveDeps, caller: Caller, name: string): Promise<void> {
  const key = entryKey({ name, tenant_id: caller.tenant });
  const stored = await readTopics(deps);
  if (!Object.hasOwn(stored, key)) throw new AppError('topic_not_found');
  const isOnly = readEntries(stored).entries.filter((entry) => entry.name === name).length === 1;
  // Before the entry, so that a repetition after a crash removes both.
  if (isOnly && isPoolWriter(deps, caller)) await removeMapping(deps, name);
  await changeTopics(deps, (data) => {
    if (!Object.hasOwn(data, key)) throw new AppError('topic_not_found');
    return Object.fromEntries(Object.entries(data).filter(([other]) => other !== key));
  });
  // After a crash here, replicas find the change by themselves within 30 s.
  await announceChange(deps, topicsScope);
}

/** Removes every registration of a tenant. @throws config_version_conflict */
export async function removeTopicsOf(deps: DocumentDeps & AnnounceDeps, tenant: string): Promise<void> {
  const names = readEntries(await readTopics(deps)).entries.filter((entry) => entry.tenant_id === tenant);
  const removed = new Set(names.map((entry) => entryKey(entry)));
  if (removed.size === 0) return;
  await changeTopics(deps, (data) => Object.fromEntries(Object.entries(data).filter(([key]) => !removed.has(key))));
  // After a crash here, replicas find the change by themselves within 30 s.
  await announceChange(deps, topicsScope);
}

const removeMapping = (deps: PoolWriteDeps, name: string) =>
  changePools(deps, (table) => (Object.hasOwn(table.topics, name) ? withPools(table, name, []) : undefined));
