import { AppError, type Caller } from '@svc/contract';
import { announceChange, type AnnounceDeps } from '@svc/settings';
import { entryKey } from './registration';
import { changeTopics, type DocumentDeps, topicsScope } from './topics-document';

/**
 * Removes a registration of the caller's own tenant; a global one of the same name becomes visible again.
 * See docs/reference/routing.md#topics.
 *
 * @throws topic_not_found, config_version_conflict
 */
export async function removeTopic(deps: DocumentDeps & AnnounceDeps, caller: Caller, name: string): Promise<void> {
  const key = entryKey({ name, tenant_id: caller.tenant });
  await changeTopics(deps, (data) => {
    if (!Object.hasOwn(data, key)) throw new AppError('topic_not_found');
    return Object.fromEntries(Object.entries(data).filter(([other]) => other !== key));
  });
  // After a crash here, replicas find the change by themselves within 30 s.
  await announceChange(deps, topicsScope);
}
