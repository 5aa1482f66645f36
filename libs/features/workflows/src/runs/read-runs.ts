import { AppError, type Caller, type ListView, type RunsQuery, type RunView, type TimelineView } from '@svc/contract';
import { isRunEnded, runStates, type RunStatus } from '@svc/lifecycle';
import type { RunRecord, Store } from '@svc/store';
import type { Base } from '@svc/platform';
import type { WaitDeps } from '@svc/jobs';
import { requireFound } from '../definitions/read-workflows';
import { toTimelineView, toLoadedRunView } from './run-view';

type ReadDeps = Pick<Base, 'store' | 'clock'>;

const maxListed = 100;
/** Concurrent reads of a list; bounded because the steps of a run may be large. */
const readBatchSize = 20;

/** @throws run_not_found, tenant_access_denied */
export async function getRun({ store, clock }: ReadDeps, caller: Caller, id: string): Promise<RunView> {
  const loaded = requireFound(await store.runs.get(caller.scope, id), 'run_not_found');
  const timers = isRunEnded(loaded.run.status) ? [] : await store.runs.timers(id);
  return toLoadedRunView(loaded, { timers, nowMs: clock.nowMs() });
}

/**
 * Waits for the run to end, at most `forMs`, and returns it.
 *
 * @throws run_not_found, tenant_access_denied
 */
export async function awaitRunEnd(
  deps: ReadDeps & Pick<WaitDeps, 'endings'>,
  caller: Caller,
  id: string,
  forMs: number,
): Promise<RunView> {
  if (forMs === 0) return getRun(deps, caller, id);
  const untilMs = performance.now() + forMs;
  let released: unknown = 'gap';
  // Ends may have been missed while the subscription was interrupted.
  while (released === 'gap') {
    // Subscribed before the status is read, so that an end in between is not missed.
    const { ended, cancel } = deps.endings.wait(id, Math.max(0, untilMs - performance.now()));
    try {
      const status = requireFound(await deps.store.runs.status(caller.scope, id), 'run_not_found');
      released = isRunEnded(status) ? undefined : await ended;
    } finally {
      cancel();
    }
  }
  return getRun(deps, caller, id);
}

/**
 * Newest change first. Lists show the progress of steps; inputs, outputs and the items of fan-outs are only in views of a
 * single run. See docs/reference/workflows.md#runs.
 *
 * @throws tenant_access_denied
 */
export async function listRuns({ store }: ReadDeps, caller: Caller, query: RunsQuery): Promise<ListView<RunView>> {
  if (query.org_id && query.org_id !== caller.tenant) throw new AppError('tenant_access_denied');
  const statuses = parseStatuses(query.status);
  if (statuses?.length === 0) return { items: [], next_cursor: null };
  const page = await store.runIndex.page(
    caller.tenant,
    {
      ...(statuses && { statuses }),
      ...(query.workflow_id && { workflowId: query.workflow_id }),
      ...(query.team_id && { teamId: query.team_id }),
      ...(query.updated_after && { afterUs: query.updated_after }),
      ...(query.updated_before && { beforeUs: query.updated_before }),
    },
    query.limit,
    query.cursor,
  );
  return { items: await readOutlines(store, page.items), next_cursor: page.nextCursorSec };
}

/** Parses a status filter, ignoring case: undefined = all, empty for an unknown status. */
function parseStatuses(filter: string | undefined): RunStatus[] | undefined {
  if (!filter) return undefined;
  return runStates.states.filter((status) => status === filter.toLowerCase());
}

/** Newest first. @throws workflow_not_found, tenant_access_denied */
export async function runsOfWorkflow({ store }: ReadDeps, caller: Caller, workflowId: string): Promise<RunView[]> {
  const workflow = requireFound(await store.workflows.get(caller.scope, workflowId), 'workflow_not_found');
  return readOutlines(store, await store.runIndex.ofWorkflow(workflow.tenant, workflowId, maxListed));
}

async function readOutlines({ runs }: Pick<Store, 'runs'>, records: readonly RunRecord[]): Promise<RunView[]> {
  const views: RunView[] = [];
  for (let i = 0; i < records.length; i += readBatchSize) {
    const part = records.slice(i, i + readBatchSize);
    const loaded = await Promise.all(part.map((run) => runs.outline(run)));
    views.push(...loaded.map((run) => toLoadedRunView(run, { steps: 'outline' })));
  }
  return views;
}

/** Oldest first. @throws run_not_found, tenant_access_denied */
export async function runTimeline(
  { store }: ReadDeps,
  caller: Caller,
  id: string,
  limit: number,
): Promise<TimelineView[]> {
  requireFound(await store.runs.head(caller.scope, id), 'run_not_found');
  return (await store.runs.timeline(id, limit)).map(toTimelineView);
}
