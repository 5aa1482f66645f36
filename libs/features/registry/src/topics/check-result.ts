import { isOwnResult, limits } from '@svc/contract';
import type { JobRecord } from '@svc/store';
import { checkDocument, type ReadDocument } from './check-document';
import type { QueuedCheckDeps, TopicRefusal } from './check-queued-job';

/** The body of a result in the store. */
export interface StoredResult {
  pointer: string;
  /** Reads up to `maxBytes`; null when the body is not in the store. */
  read(maxBytes: number): Promise<{ body: Buffer; sizeBytes: number } | null>;
}

/**
 * Validates a result against the output schema of the job's topic. The body is read only when there is a schema.
 * See docs/reference/jobs.md#results.
 *
 * @returns the reason that the job must fail, when schemas are enforced
 */
export async function checkResult(
  { topics }: Pick<QueuedCheckDeps, 'topics'>,
  job: Pick<JobRecord, 'id' | 'tenant' | 'topic'>,
  body: StoredResult,
): Promise<TopicRefusal | undefined> {
  const { tenant, topic } = job;
  const found = await topics.registry.find(tenant, topic);
  if (found.kind !== 'registered') return undefined;
  const { output_schema_id: schemaId, tenant_id: schemaOwner } = found.registration;
  if (!schemaId) return undefined;
  const checked = { topic, tenant, what: 'output', schemaId, schemaOwner, jobId: job.id } as const;
  const mismatch = await checkDocument(topics, checked, () => readResult(job.id, body));
  return mismatch && { code: 'output_schema_validation_failed', message: mismatch.message };
}

async function readResult(id: string, body: StoredResult): Promise<ReadDocument> {
  const { pointer } = body;
  if (pointer === '') return { fault: 'the worker returned no result' };
  if (!isOwnResult(id, pointer)) return { fault: 'the result is not readable' };
  const found = await body.read(limits.scanBytes);
  if (!found) return { fault: 'the result does not exist' };
  if (found.sizeBytes > found.body.length) {
    return { fault: `the result has ${found.sizeBytes} bytes, and at most ${limits.scanBytes} can be checked` };
  }
  try {
    return { value: JSON.parse(found.body.toString('utf8')) as unknown };
  } catch {
    return { fault: 'the result is not JSON' };
  }
}
