import { AppError } from '@svc/contract';
import { checkDocument, getInput } from './check-document';
import type { TopicRegistration } from './registration';
import type { TopicDeps } from './topic-deps';

/** The topic and input of a submitted job. */
export interface Incoming {
  tenant: string;
  topic: string;
  /** The input document for workers. */
  document: Record<string, unknown>;
}

/**
 * Rejects a job whose topic is unknown or disabled, or whose input does not match the topic's schema.
 * See docs/reference/jobs.md#submit-a-job.
 *
 * @throws unknown_topic, topic_disabled, schema_validation_failed
 */
export async function admitTopic(deps: TopicDeps, { tenant, topic, document }: Incoming): Promise<void> {
  const found = await deps.registry.find(tenant, topic);
  if (found.kind === 'open') return;
  if (found.kind === 'unknown') throw unknownTopic(found.known);
  const { status, input_schema_id: schemaId, tenant_id: schemaOwner } = found.registration;
  if (status === 'disabled') throw new AppError('topic_disabled', { error_code: 'topic_disabled' });
  if (status === 'deprecated') deps.events.deprecatedTopic(topic, tenant);
  if (!schemaId) return;
  const mismatch = await checkDocument(deps, { topic, tenant, what: 'input', schemaId, schemaOwner }, async () => ({
    value: getInput(document),
  }));
  // A missing or broken schema is the fault of the registration, but the job cannot be admitted unchecked.
  if (mismatch) {
    const code = 'schema_validation_failed';
    throw new AppError(code, { error_code: code, violations: mismatch.violations });
  }
}

const shown = 20;

function unknownTopic(known: readonly TopicRegistration[]): AppError {
  const names = known.flatMap(({ name, status }) => (status === 'disabled' ? [] : [name])).sort();
  return new AppError('unknown_topic', {
    error_code: 'unknown_topic',
    registered_topics: names.slice(0, shown),
    truncated: names.length > shown,
    topics_endpoint: '/api/v1/topics',
  });
}
