import type { Caller, TopicsView, TopicView } from '@svc/contract';
import { type FleetDeps, listWorkers } from '../fleet/read-fleet';
import type { TopicRegistration } from './registration';
import type { TopicDeps } from './topic-deps';

export type TopicReadDeps = FleetDeps & { topics: TopicDeps };

/** The registrations that apply to the caller's tenant, by name. See docs/reference/routing.md#topics. */
export async function listTopics(deps: TopicReadDeps, caller: Caller): Promise<TopicsView> {
  const [{ entries, populated }, view] = await Promise.all([
    deps.topics.registry.list(caller.tenant),
    topicViews(deps),
  ]);
  const items = [...entries].sort((a, b) => (a.name < b.name ? -1 : 1)).map(view);
  return { items, registry_empty: !populated };
}

/** Builds the view of a registration, with the live workers of every pool that its topic is mapped to. */
export async function topicViews(deps: FleetDeps): Promise<(registration: TopicRegistration) => TopicView> {
  const workers = await listWorkers(deps);
  const { topics } = deps.fleet.pools();
  return ({ tenant_id: _, ...fields }) => {
    const mapped = Object.hasOwn(topics, fields.name) ? topics[fields.name] : undefined;
    const pools = mapped ?? [fields.pool];
    return { ...fields, active_worker_count: workers.filter(({ pool }) => pools.includes(pool)).length };
  };
}
