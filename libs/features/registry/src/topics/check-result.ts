import { isOwnResult, limits } from '@svc/contract';
import type { JobRecord, Store } from '@svc/store';
import { checkDocument, type ReadDocument } from './check-document';
import type { QueuedCheckDeps, TopicRefusal } from './check-queued-job';

/**
 * Checks a worker's result against the output schema of the job's topic. The body is read once, and only when there is a
 * schema to check it against. See docs/reference/jobs.md#results.
 *
 * @returns the reason the job must fail, when enforcement rejects the result
 */
export async function checkResult(
  { topics, store }: QueuedCheckDeps,
  job: JobRecord,
  resultPtr: string,
): Promise<TopicRefusal | undefined> {
  const { tenant, topic } = job;
  const found = await topics.registry.find(tenant, topic);
  if (found.kind !== 'registered') return undefined;
  const { output_schema_id: schemaId, tenant_id: schemaOwner } = found.registration;
  if (!schemaId) return undefined;
  const checked = { topic, tenant, what: 'output', schemaId, schemaOwner, jobId: job.id } as const;
  const misfit = await checkDocument(topics, checked, () => readResult(store, job.id, resultPtr));
  return misfit && { code: 'output_schema_validation_failed', message: misfit.message };
}

async function readResult({ data }: Pick<Store, 'data'>, id: string, pointer: string): Promise<ReadDocument> {
  if (pointer === '') return { fault: 'the worker returned no result' };
  if (!isOwnResult(id, pointer)) return { fault: 'the result is not readable' };
  const found = await data.read(pointer, limits.scanBytes);
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
