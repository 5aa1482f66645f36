import { isOwnResult, isStorePointer, limits, type JobResult } from '@svc/contract';
import type { Store } from '@svc/store';

/** The fields of a result that output policy reads. */
export type ResultFacts = Pick<
  JobResult,
  'result_ptr' | 'error_message' | 'error_code' | 'worker_id' | 'execution_ms' | 'artifact_ptrs'
>;

export interface StoredBody {
  body: Buffer;
  sizeBytes: number;
}

export interface BodyHead {
  sizeBytes: number;
  /** Whether there is a body to scan, even if it is not visible yet. */
  hasBody: boolean;
  /** The whole body, if it is small. */
  body?: Buffer;
}

/** Bodies up to this size are scanned before the success is written. */
const maxSmallBytes = 64 * 1_024;
const maxReads = 6;
const retryDelayMs = 100;

/** The body of a result. A part that was read is kept, so that the checks of one phase share a single read. */
export class ResultBody {
  private kept: StoredBody | undefined;
  private firstRead: Promise<BodyHead> | undefined;

  /** @param inline the whole body, from the message; the store is then not read */
  constructor(
    private readonly data: Pick<Store['data'], 'read'>,
    private readonly jobId: string,
    readonly pointer: string,
    readonly inline?: Buffer,
  ) {
    if (inline) this.kept = { body: inline, sizeBytes: inline.length };
  }

  /** Starts reading the head, so that it is available when the checks need it; they receive the error of a failed read. */
  prefetch(): void {
    this.head().catch(() => undefined);
  }

  head(): Promise<BodyHead> {
    return (this.firstRead ??= this.readHead());
  }

  /** Reads up to `maxBytes`; null when the body is not in the store. */
  async read(maxBytes: number): Promise<StoredBody | null> {
    const { kept } = this;
    if (kept && (kept.body.length >= maxBytes || kept.body.length === kept.sizeBytes)) {
      return { body: kept.body.subarray(0, maxBytes), sizeBytes: kept.sizeBytes };
    }
    const found = await this.data.read(this.pointer, maxBytes);
    if (found) this.kept = found;
    return found;
  }

  /**
   * Reads as much as can be scanned. The result of a worker may become visible shortly after its report, so a missing body
   * is read again a few times. @throws when it stays missing
   */
  async readForScan(): Promise<StoredBody> {
    for (let reads = 1; ; reads++) {
      const found = await this.read(limits.scanMostBytes);
      if (found) return found;
      if (reads === maxReads) throw new Error('the result is not there');
      await new Promise((resolve) => setTimeout(resolve, retryDelayMs));
    }
  }

  private async readHead(): Promise<BodyHead> {
    const { jobId, pointer } = this;
    if (pointer === '' || (isStorePointer(pointer) && !isOwnResult(jobId, pointer))) {
      return { sizeBytes: 0, hasBody: false };
    }
    // A result in an external store is not read: the content check treats it as one that could not be scanned.
    if (!isStorePointer(pointer)) return { sizeBytes: 0, hasBody: true };
    const found = await this.read(maxSmallBytes);
    // Not visible yet: the background scan waits for it.
    if (!found) return { sizeBytes: 0, hasBody: true };
    const { body, sizeBytes } = found;
    return { sizeBytes, hasBody: sizeBytes > 0, ...(body.length === sizeBytes && { body }) };
  }
}
