import { isOwnResult, isStorePointer } from '@svc/contract';
import { markSensitive, type JobRecord, type Store } from '@svc/store';

/**
 * Whether the output of the job is withheld from readers. A quarantine holds until it is released.
 * See docs/reference/jobs.md#dead-letters.
 */
export const isWithheld = ({ state, output_safety }: Pick<JobRecord, 'state' | 'output_safety'>): boolean =>
  state === 'OUTPUT_QUARANTINED' && output_safety?.released_at === undefined;

/**
 * Records a read of the output of a job that was withheld, or still is, in which case the read is refused.
 * See docs/reference/audit.md#sensitive-reads.
 */
export function markOutputRead(job: Pick<JobRecord, 'id' | 'tenant' | 'state' | 'output_safety'>): void {
  const wasReleased = job.output_safety?.released_at !== undefined;
  if (wasReleased || isWithheld(job)) markSensitive(job.tenant, { source_job: job.id });
}

const MAX_PARTS = 8;

/**
 * The job whose result is stored at `res:<name>`: workers may write parts as `res:<id>:<part>`, and redacted copies are
 * stored there too. Ids may contain colons themselves.
 */
export async function findResultOwner({ jobs }: Pick<Store, 'jobs'>, name: string): Promise<JobRecord | undefined> {
  let id = name;
  for (let tries = 0; tries < MAX_PARTS && id !== ''; tries++) {
    const job = await jobs.load(id);
    if (job) return job;
    id = id.slice(0, Math.max(0, id.lastIndexOf(':')));
  }
  return undefined;
}

/**
 * Whether a worker's result pointer names data of another job. The platform reads with rights that a worker does not
 * have, so following such a pointer would expose any key of the store and bypass the job's output policy.
 */
export async function isForeignResult(store: Pick<Store, 'jobs'>, id: string, pointer: string): Promise<boolean> {
  if (!isStorePointer(pointer) || pointer === `redis://res:${id}`) return false;
  if (!isOwnResult(id, pointer)) return true;
  // Job ids may contain colons: `res:a:b` may be a part of job `a`, or the result of job `a:b`.
  const owner = await findResultOwner(store, pointer.slice('redis://res:'.length));
  return owner !== undefined && owner.id !== id;
}
