import type { ApprovalView, Caller, ListView } from '@svc/contract';
import type { JobRecord, Store } from '@svc/store';
import { getApproval, readContext } from '@svc/jobs';
import { approvalView } from './approval-view';
import { isRunOver } from './resolve-held-job';

const pageSize = 200;

/** Approvals of a tenant, newest change first. See docs/reference/jobs.md#approvals. */
export async function listApprovals(
  { store }: { store: Store },
  caller: Caller,
  query: { limit: number; include_resolved: boolean; cursor?: number },
): Promise<ListView<ApprovalView>> {
  const found: { job: JobRecord; atUs: number }[] = [];
  const isOver = cachedRunOver(store);
  let upper = query.cursor ?? Infinity;
  let more = true;
  while (more && found.length <= query.limit) {
    const rows = await store.index.approvals(caller.tenant, upper, pageSize);
    const at = new Map(rows.map(({ id, atUs }) => [id, atUs]));
    const jobs = await store.index.records([...at.keys()]);
    const listed = await Promise.all(jobs.map((job) => isListed(job, query.include_resolved, isOver)));
    const wanted = jobs.filter((_, i) => listed[i]);
    // Uses the position read from the index, so that a concurrent change cannot move the cursor back.
    found.push(...wanted.map((job) => ({ job, atUs: at.get(job.id) ?? job.updated_at })));
    more = rows.length === pageSize;
    upper = (rows.at(-1)?.atUs ?? 0) - 1;
  }
  const shown = found.slice(0, query.limit);
  const last = shown.at(-1);
  const items = await Promise.all(shown.map(async ({ job }) => approvalView(job, await readContext(store, job))));
  return { items, next_cursor: found.length > query.limit && last ? last.atUs - 1 : null };
}

/** A pending approval whose run has ended can no longer be decided, and is omitted. */
async function isListed(
  job: JobRecord,
  includeResolved: boolean,
  isOver: (job: JobRecord) => Promise<boolean>,
): Promise<boolean> {
  return getApproval(job)?.status === 'pending' ? !(await isOver(job)) : includeResolved;
}

/** Checks whether the run of a job has ended; reads each run once. */
function cachedRunOver(store: Store): (job: JobRecord) => Promise<boolean> {
  const known = new Map<string, Promise<boolean>>();
  return (job) => {
    const run = job.run ?? '';
    const isOver = known.get(run) ?? isRunOver({ store }, job);
    known.set(run, isOver);
    return isOver;
  };
}
