import { AppError } from '@svc/contract';
import type { JobSummary, Store } from '@svc/store';

const MAX_RANGE_MS = 7 * 86_400_000;
const pageSize = 200;
/** Bound on jobs read on the way to the range, since jobs that moved after it are skipped. */
const MAX_SCANNED_JOBS = 10_000;

export interface Range {
  fromMs: number;
  toMs: number;
}

/** @throws invalid_body unless 0 < to - from <= 7 days */
export function parseRange({ from, to }: { from: number; to: number }): Range {
  const fault =
    to <= from ? 'to must be later than from' : to - from > MAX_RANGE_MS ? 'at most 7 days at once' : undefined;
  if (fault) {
    throw new AppError('invalid_body', { violations: [{ in: 'body', field: 'to', path: 'to', message: fault }] });
  }
  return { fromMs: from, toMs: to };
}

export const timeRangeView = ({ fromMs, toMs }: Range) => ({
  from: new Date(fromMs).toISOString(),
  to: new Date(toMs).toISOString(),
});

export interface FoundJobs {
  jobs: JobSummary[];
  /** More jobs match. */
  isCut: boolean;
}

/** A tenant's matching jobs, most recently moved first. A job is found however often it moved after its decision. */
export async function decidedJobs(
  { index }: Pick<Store, 'index'>,
  tenant: string,
  fits: (job: JobSummary) => boolean,
  { fromMs, most }: { fromMs: number; most: number },
): Promise<FoundJobs> {
  const jobs: JobSummary[] = [];
  let cursorUs: number | undefined;
  for (let looked = 0; looked < MAX_SCANNED_JOBS; looked += pageSize) {
    const page = await index.page(tenant, { afterUs: fromMs * 1_000 }, pageSize, cursorUs);
    for (const job of page.items.filter(fits)) {
      if (jobs.length === most) return { jobs, isCut: true };
      jobs.push(job);
    }
    if (page.nextCursorUs === null) return { jobs, isCut: false };
    cursorUs = page.nextCursorUs;
  }
  return { jobs, isCut: true };
}

/** Runs `work` on each item with bounded concurrency, keeping their order. */
export async function mapConcurrently<T, R>(
  items: readonly T[],
  atOnce: number,
  work: (item: T) => Promise<R>,
): Promise<R[]> {
  const results: R[] = [];
  for (let i = 0; i < items.length; i += atOnce) {
    results.push(...(await Promise.all(items.slice(i, i + atOnce).map(work))));
  }
  return results;
}
