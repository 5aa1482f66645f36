import { contextPointer, isGate, limits } from '@svc/contract';
import type { JobRecord, Store } from '@svc/store';
import { checkDocument, inputOf, type ReadDocument } from './check-document';
import type { TopicDeps } from './topic-deps';

export interface QueuedCheckDeps {
  topics: TopicDeps;
  store: Pick<Store, 'data'>;
}

/** Why a job may not go on to a worker: the code and text of its end. */
export interface TopicRefusal {
  code: string;
  message: string;
}

/**
 * The gateway's checks of a topic again, for a job that is about to be decided: the topic may have been disabled since, and a
 * job may have come round the gateway. Only the input of the latter is checked again.
 * See docs/architecture.md#the-path-of-a-job.
 */
export async function checkQueuedJob(
  { topics, store }: QueuedCheckDeps,
  job: JobRecord,
): Promise<TopicRefusal | undefined> {
  const closed = await closedTopic({ topics }, job);
  if (closed || passedGateway(job)) return closed;
  const { tenant, topic } = job;
  const found = await topics.registry.find(tenant, topic);
  if (found.kind !== 'registered') return undefined;
  const { input_schema_id: schemaId, tenant_id: schemaOwner } = found.registration;
  if (!schemaId) return undefined;
  const checked = { topic, tenant, what: 'input', schemaId, schemaOwner, jobId: job.id } as const;
  return checkDocument(topics, checked, () => readInput(store, job));
}

/** Why no job of this topic runs; from memory, so it may be asked of each job that is given out. */
export async function closedTopic(
  { topics }: Pick<QueuedCheckDeps, 'topics'>,
  { tenant, topic }: Pick<JobRecord, 'tenant' | 'topic'>,
): Promise<TopicRefusal | undefined> {
  // The platform's own topic, which nobody registers.
  if (isGate(topic)) return undefined;
  const found = await topics.registry.find(tenant, topic);
  if (found.kind === 'unknown') return { code: 'unknown_topic', message: 'unknown topic' };
  const isDisabled = found.kind === 'registered' && found.registration.status === 'disabled';
  return isDisabled ? { code: 'topic_disabled', message: 'topic disabled' } : undefined;
}

/** Clients cannot set labels that begin with `_`, and jobs made of other jobs do not inherit them. */
const passedGateway = ({ request }: JobRecord): boolean => ['api', 'pack'].includes(request.labels['_source'] ?? '');

async function readInput({ data }: Pick<Store, 'data'>, job: JobRecord): Promise<ReadDocument> {
  const body = await data.context(contextPointer(job), limits.contextBytes);
  if (!body) return { fault: 'the input document is not there, or not where it could be read' };
  try {
    return { value: inputOf(JSON.parse(body.toString('utf8'))) };
  } catch {
    return { fault: `the input document is no JSON of at most ${limits.contextBytes} bytes` };
  }
}
