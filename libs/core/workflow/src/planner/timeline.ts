/** Types of timeline events. */
export const timelineTypes = [
  'run_status', 'step_dispatched', 'step_completed', 'step_failed', 'step_waiting', 'step_approved', 'step_rejected',
  'step_error_redirect', 'step_retry_scheduled', 'step_skipped', 'step_cancelled', 'step_condition_evaluated',
  'step_condition_failed', 'step_condition_skipped', 'step_switch_evaluated', 'step_delay_started', 'step_delay_completed',
  'step_delay_failed', 'step_event_emitted', 'step_event_failed', 'step_transform_completed', 'step_transform_failed',
  'step_storage_completed', 'step_storage_failed', 'step_parallel_started', 'step_parallel_completed',
  'step_loop_iteration', 'step_loop_completed', 'step_subworkflow_started', 'step_subworkflow_completed',
  'step_foreach_failed', 'step_foreach_orphan_cancelled', 'step_output_invalid', 'step_output_quarantined',
  'step_output_redacted', 'cancel_publish_failed', 'step_signal_received', 'step_compensation_started',
  'step_compensation_failed',
] as const; // prettier-ignore
export type TimelineType = (typeof timelineTypes)[number];

/** One entry of a run's history. `data` never contains bodies of inputs or outputs. */
export interface TimelineEvent {
  time_ms: number;
  type: TimelineType;
  run_id: string;
  workflow_id: string;
  /** A step id, or `step[2]` for an item. */
  step_id?: string;
  job_id?: string;
  status?: string;
  result_ptr?: string;
  message?: string;
  data?: Record<string, unknown>;
}
