import { contextPointer, isGate, limits } from '@svc/contract';
import type { JobRecord, Store } from '@svc/store';
import { checkDocument, getInput, type ReadDocument } from './check-document';
import type { TopicDeps } from './topic-deps';

export interface QueuedCheckDeps {
  topics: TopicDeps;
  store: Pick<Store, 'data'>;
}

/** Error code and text of a job that must not be dispatched. */
export interface TopicRefusal {
  code: string;
  message: string;
}

/**
 * Repeats the gateway's checks of a topic before the policy decision: the topic may have been disabled since, and a job may
 * have been submitted directly to the bus. Only the latter's input is checked again.
 * See docs/architecture.md#the-path-of-a-job.
 *
 * @param document the input document of a new job; read from the store when absent
 */
export async function checkQueuedJob(
  { topics, store }: QueuedCheckDeps,
  job: JobRecord,
  document?: Record<string, unknown>,
): Promise<TopicRefusal | undefined> {
  const closed = await closedTopic({ topics }, job);
  if (closed || passedGateway(job)) return closed;
  const { tenant, topic } = job;
  const found = await topics.registry.find(tenant, topic);
  if (found.kind !== 'registered') return undefined;
  const { input_schema_id: schemaId, tenant_id: schemaOwner } = found.registration;
  if (!schemaId) return undefined;
  const checked = { topic, tenant, what: 'input', schemaId, schemaOwner, jobId: job.id } as const;
  return checkDocument(topics, checked, async () => (document ? { value: getInput(document) } : readInput(store, job)));
}

/** Reason why jobs of this topic do not run; read from memory, so it can be checked at each dispatch. */
export async function closedTopic(
  { topics }: Pick<QueuedCheckDeps, 'topics'>,
  { tenant, topic }: Pick<JobRecord, 'tenant' | 'topic'>,
): Promise<TopicRefusal | undefined> {
  // The platform's own topic, which is never registered.
  if (isGate(topic)) return undefined;
  const found = await topics.registry.find(tenant, topic);
  if (found.kind === 'unknown') return { code: 'unknown_topic', message: 'unknown topic' };
  const isDisabled = found.kind === 'registered' && found.registration.status === 'disabled';
  return isDisabled ? { code: 'topic_disabled', message: 'topic disabled' } : undefined;
}

/** Clients cannot set labels that begin with `_`, and jobs made from other jobs do not inherit them. */
const passedGateway = ({ request }: JobRecord): boolean => ['api', 'pack'].includes(request.labels['_source'] ?? '');

async function readInput({ data }: Pick<Store, 'data'>, job: JobRecord): Promise<ReadDocument> {
  const body = await data.context(contextPointer(job), limits.contextBytes);
  if (!body) return { fault: 'the input document does not exist or is not readable' };
  try {
    return { value: getInput(JSON.parse(body.toString('utf8'))) };
  } catch {
    return { fault: `the input document is not JSON of at most ${limits.contextBytes} bytes` };
  }
}
