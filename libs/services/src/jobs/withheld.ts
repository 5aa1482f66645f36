import type { JobRecord, Store } from '@svc/store';

/** Is what the job returned kept from its readers? A quarantine holds until somebody releases it. Engine contract A12. */
export const isWithheld = ({ state, output_safety }: Pick<JobRecord, 'state' | 'output_safety'>): boolean =>
  state === 'OUTPUT_QUARANTINED' && output_safety?.released_at === undefined;

/** Pointers at anything but the job's own result are handed on and never followed. Wire contract 12. */
export const isOwnResult = (id: string, pointer: string): boolean =>
  pointer === `redis://res:${id}` || pointer.startsWith(`redis://res:${id}:`);

const mostParts = 8;

/**
 * The job whose result stands at `res:<name>`: workers may write parts beside it, as `res:<id>:<part>`, and redacted copies
 * stand there too. Ids may hold colons themselves.
 */
export async function ownerOfResult({ jobs }: Pick<Store, 'jobs'>, name: string): Promise<JobRecord | undefined> {
  let id = name;
  for (let tries = 0; tries < mostParts && id !== ''; tries++) {
    const job = await jobs.load(id);
    if (job) return job;
    id = id.slice(0, Math.max(0, id.lastIndexOf(':')));
  }
  return undefined;
}
