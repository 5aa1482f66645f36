import type { RunState } from './run-state';

type Needed = 'id' | 'workflow_id' | 'org_id' | 'input';
type Optional =
  | 'workflow_revision' | 'team_id' | 'triggered_by' | 'labels' | 'metadata' | 'idempotency_key' | 'dry_run'
  | 'rerun_of' | 'rerun_step' | 'parent' | 'retried' | 'call_stack'; // prettier-ignore

/** Optional fields of a new run. */
export type NewRunFields = Partial<Pick<RunState, Optional>>;

/** Creates a run before its first pass. */
export const newRun = (given: Pick<RunState, Needed> & NewRunFields, nowMs: number): RunState => ({
  ...given,
  context: {},
  status: 'pending',
  created_at_ms: nowMs,
  updated_at_ms: nowMs,
  steps: {},
  ready: [],
  counts: { jobs: 0, busy: 0, waiting: 0 },
  undo: [],
  cancels: {},
  signals: [],
  signal_ids: [],
  outbox: {},
});
