import { JobPriority, JobStatus, WireErrorCode } from './messages';

const priorities: Readonly<Record<string, JobPriority>> = {
  interactive: JobPriority.JOB_PRIORITY_INTERACTIVE,
  batch: JobPriority.JOB_PRIORITY_BATCH,
  critical: JobPriority.JOB_PRIORITY_CRITICAL,
  low: JobPriority.JOB_PRIORITY_BATCH,
  normal: JobPriority.JOB_PRIORITY_INTERACTIVE,
  high: JobPriority.JOB_PRIORITY_CRITICAL,
};

/**
 * The priority of a REST string, in any case; undefined for an unknown one.
 * See docs/reference/messages.md.
 */
export const parsePriority = (text: string): JobPriority | undefined =>
  Object.hasOwn(priorities, text.toLowerCase()) ? priorities[text.toLowerCase()] : undefined;

export type PriorityName = 'interactive' | 'batch' | 'critical';

/** The REST string of a priority; unspecified reads as interactive. */
export function priorityName(priority: JobPriority): PriorityName {
  if (priority === JobPriority.JOB_PRIORITY_BATCH) return 'batch';
  return priority === JobPriority.JOB_PRIORITY_CRITICAL ? 'critical' : 'interactive';
}

type Short<Name> = Name extends `JOB_STATUS_${infer Rest}` ? Rest : never;
export type JobStatusName = Short<keyof typeof JobStatus>;

/** `SUCCEEDED` for JOB_STATUS_SUCCEEDED. */
export const jobStatusName = (status: JobStatus): JobStatusName =>
  (JobStatus[status] ?? 'JOB_STATUS_UNSPECIFIED').replace('JOB_STATUS_', '') as JobStatusName;

/** JOB_STATUS_SUCCEEDED for `SUCCEEDED`. */
export const toJobStatus = (name: JobStatusName): JobStatus => JobStatus[`JOB_STATUS_${name}`];

const legacyCodes: Readonly<Record<string, WireErrorCode>> = {
  approval_rejected: WireErrorCode.ERROR_CODE_SAFETY_DENIED,
  policy_denied: WireErrorCode.ERROR_CODE_SAFETY_DENIED,
  policy_violation: WireErrorCode.ERROR_CODE_POLICY_VIOLATION,
  max_scheduling_retries: WireErrorCode.ERROR_CODE_RESOURCE_EXHAUSTED,
  timeout: WireErrorCode.ERROR_CODE_JOB_TIMEOUT,
  permission_denied: WireErrorCode.ERROR_CODE_PERMISSION_DENIED,
};

/** The error code of a result: the typed field, else the code of its older text. */
export const getErrorCode = (result: { error_code: string; error_code_enum: WireErrorCode }): WireErrorCode =>
  result.error_code_enum ||
  (Object.hasOwn(legacyCodes, result.error_code) ? legacyCodes[result.error_code] : undefined) ||
  WireErrorCode.ERROR_CODE_UNSPECIFIED;
