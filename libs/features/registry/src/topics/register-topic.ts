import { AppError, limits, type Caller, type TopicBody, type TopicView } from '@svc/contract';
import type { StoredFleet } from '@svc/platform';
import { announceChange } from '@svc/settings';
import type { PoolWriteDeps } from '../pools/change-pools';
import { type TopicReadDeps, topicViews } from './list-topics';
import { entryKey, pickOptionalTexts, tidy, type TopicRegistration } from './registration';
import { changeTopics, topicsScope } from './topics-document';

export type TopicWriteDeps = TopicReadDeps & PoolWriteDeps;

/**
 * Registers a topic for the caller's tenant, or replaces its registration; it hides a global topic of the same name from
 * the tenant. See docs/reference/routing.md#topics.
 *
 * @throws tenant_access_denied, topic_schema_violation, pool_not_found, config_version_conflict
 */
export async function registerTopic(
  deps: TopicWriteDeps,
  caller: Caller,
  body: TopicBody,
): Promise<{ view: TopicView; created: boolean }> {
  if (body.tenant_id && body.tenant_id !== caller.tenant) throw new AppError('tenant_access_denied');
  await requirePool(deps.fleet, body);
  await requireSchemas(deps, caller, body);
  const registration = toRegistration(body, caller.tenant);
  const key = entryKey(registration);
  let created = false;
  await changeTopics(deps, (data) => {
    created = !Object.hasOwn(data, key);
    if (created) requireRoom(Object.keys(data), caller.tenant);
    return { ...data, [key]: registration };
  });
  // After a crash here, replicas find the change by themselves within 30 s.
  await announceChange(deps, topicsScope);
  const view = await topicViews(deps);
  return { view: view(registration), created };
}

/** Limits each tenant, so that one cannot fill the registry. */
function requireRoom(keys: readonly string[], tenant: string): void {
  if (keys.length >= limits.topics)
    throw violation('name', `the registry already has ${limits.topics} topics: remove one`);
  const own = keys.filter((key) => key.startsWith(entryKey({ name: '', tenant_id: tenant }))).length;
  if (own >= limits.tenantTopics)
    throw violation('name', `this tenant already has ${limits.tenantTopics} topics: remove one`);
}

async function requirePool(fleet: StoredFleet, { pool, status }: TopicBody): Promise<void> {
  if (pool === '' && status === 'disabled') return;
  if (pool === '') throw violation('pool', 'is needed unless the topic is disabled');
  const isKnown = () => Object.hasOwn(fleet.pools().pools, pool);
  if (isKnown()) return;
  // Another replica may have stored the pool a moment ago, with its notice still under way.
  await fleet.reload();
  if (!isKnown()) throw new AppError('pool_not_found');
}

/** A topic uses schemas of its own tenant and of the installation. */
async function requireSchemas({ store }: TopicWriteDeps, { tenant }: Caller, body: TopicBody): Promise<void> {
  for (const field of ['input_schema_id', 'output_schema_id'] as const) {
    const id = body[field];
    if (id && !(await store.schemas.read(tenant, id))) throw violation(field, `no schema is registered as ${id}`);
  }
}

const violation = (field: string, message: string) =>
  new AppError('topic_schema_violation', { violations: [{ in: 'body', field, message }] });

const toRegistration = (body: TopicBody, tenant: string): TopicRegistration => ({
  name: body.name,
  tenant_id: tenant,
  pool: body.pool,
  requires: tidy(body.requires),
  risk_tags: tidy(body.risk_tags),
  status: body.status,
  ...pickOptionalTexts(body),
});
