import { createHash, randomUUID } from 'node:crypto';
import { integrityErrorCode, integrityFault, WireErrorCode, type JobRequest, type ResourceRef } from '@svc/contract';
import Redis from 'ioredis';
import { FatalError, RetryableError } from './errors';
import type { ArtifactOptions } from './types';

/** Reads and stores the data of a dispatch. */
export interface JobData {
  /**
   * The document a pointer leads to: parsed when it is JSON, else its text; undefined for pointers of another scheme, which
   * the handler reads.
   *
   * @param ref expected properties of the document, if the job has them
   * @throws FatalError when the document is missing or differs from the reference, RetryableError when the store is unavailable
   */
  readContext(pointer: string, ref?: ResourceRef): Promise<unknown>;
  /** @returns the pointer of the result */
  writeResult(body: string | Uint8Array): Promise<string>;
  /** @returns the pointer of the artifact */
  writeArtifact(bytes: Uint8Array, options: ArtifactOptions): Promise<string>;
}

export const scheme = 'redis://';
const retentionSec = { short: 86_400, standard: 7 * 86_400, audit: 30 * 86_400 };

/**
 * Access of a worker to Redis: reads the context of its jobs, and writes their results and
 * artifacts. See docs/reference/worker-protocol.md#pointers.
 */
export class DataStore {
  private readonly redis: Redis;

  constructor(url: string, onError: (error: unknown) => void) {
    this.redis = new Redis(url, { maxRetriesPerRequest: 5, commandTimeout: 10_000, enableAutoPipelining: true });
    this.redis.on('error', onError);
  }

  /**
   * The document a pointer leads to: parsed when it is JSON, else its text; undefined for pointers of another scheme,
   * which the handler reads.
   *
   * @param ref expected properties of the document, if the job has them
   * @throws FatalError when the document is missing or differs from the reference, RetryableError when the store is unavailable
   */
  async readContext(pointer: string, ref?: ResourceRef): Promise<unknown> {
    if (!pointer.startsWith(scheme)) return undefined;
    const body = await attempt(this.redis.getBuffer(pointer.slice(scheme.length)));
    if (body === null) throw contextMissing();
    return parseContext(body, ref);
  }

  /** The data of one dispatch. */
  of(request: Pick<JobRequest, 'job_id' | 'tenant_id'>, resultTtlSec: number): JobData {
    return new StoredData(this, request, resultTtlSec);
  }

  /** @returns the pointer of the result */
  async writeResult(jobId: string, body: string | Uint8Array, ttlSec: number): Promise<string> {
    const key = `res:${jobId}`;
    await attempt(this.redis.set(key, typeof body === 'string' ? body : Buffer.from(body), 'EX', ttlSec));
    return scheme + key;
  }

  /** @returns the pointer of the artifact */
  async writeArtifact(
    tenant: string,
    bytes: Uint8Array,
    { contentType, retention = 'standard', labels = {} }: ArtifactOptions,
  ): Promise<string> {
    const id = randomUUID();
    const metadata = {
      content_type: contentType ?? 'application/octet-stream',
      size_bytes: bytes.length,
      retention,
      labels: { ...labels, tenant_id: tenant },
      created_at: Date.now() * 1_000,
      tenant,
    };
    const ttlSec = retentionSec[retention];
    const writes = this.redis
      .multi()
      .set(`art:${id}`, Buffer.from(bytes), 'EX', ttlSec)
      .set(`art:meta:${id}`, JSON.stringify(metadata), 'EX', ttlSec);
    await attempt(writes.exec());
    return `${scheme}art:${id}`;
  }

  async close(): Promise<void> {
    await this.redis.quit().catch(() => this.redis.disconnect());
  }
}

/** The data of one dispatch in Redis. */
class StoredData implements JobData {
  constructor(
    private readonly store: DataStore,
    private readonly request: Pick<JobRequest, 'job_id' | 'tenant_id'>,
    private readonly resultTtlSec: number,
  ) {}

  readContext(pointer: string, ref?: ResourceRef): Promise<unknown> {
    return this.store.readContext(pointer, ref);
  }

  writeResult(body: string | Uint8Array): Promise<string> {
    return this.store.writeResult(this.request.job_id, body, this.resultTtlSec);
  }

  writeArtifact(bytes: Uint8Array, options: ArtifactOptions): Promise<string> {
    return this.store.writeArtifact(this.request.tenant_id, bytes, options);
  }
}

export function contextMissing(): FatalError {
  const errorCode = WireErrorCode.ERROR_CODE_NOT_FOUND;
  return new FatalError('the context of this job is not in the store', { code: 'context_missing', errorCode });
}

/** @throws FatalError when the document differs from the reference */
export function parseContext(body: Buffer, ref?: ResourceRef): unknown {
  if (ref) verify(body, ref);
  const text = body.toString('utf8');
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** @throws FatalError when the document differs from the reference */
function verify(body: Buffer, ref: ResourceRef): void {
  const sha256 = ref.sha256.length > 0 ? createHash('sha256').update(body).digest() : undefined;
  const fault = integrityFault(ref, { sizeBytes: body.length, ...(sha256 && { sha256 }) });
  if (!fault) return;
  const errorCode = WireErrorCode.ERROR_CODE_INVALID_INPUT;
  throw new FatalError(`context_ref: ${fault}`, { code: integrityErrorCode, errorCode });
}

async function attempt<T>(command: Promise<T>): Promise<T> {
  try {
    return await command;
  } catch (cause) {
    throw new RetryableError('the store did not answer', { code: 'store_unavailable', cause });
  }
}
