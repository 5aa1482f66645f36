import { protocolVersion } from '@svc/contract';
import { isWithheld, publicLabels } from '@svc/jobs';
import { isTerminal, type JobState } from '@svc/lifecycle';
import type { ChatChange, JobChange, OutputSafetyRecord, ReportChange, RunChange, StoredRequest } from '@svc/store';
import type { StreamEvent } from './stream-event';

/** Status of a state. A quarantine has no status of its own. See docs/reference/jobs.md#states. */
const statusOf: Readonly<Record<JobState, string>> = {
  PENDING: 'JOB_STATUS_PENDING',
  APPROVAL_REQUIRED: 'JOB_STATUS_PENDING',
  SCHEDULED: 'JOB_STATUS_SCHEDULED',
  DISPATCHED: 'JOB_STATUS_DISPATCHED',
  RUNNING: 'JOB_STATUS_RUNNING',
  RETRYING: 'JOB_STATUS_FAILED_RETRYABLE',
  SUCCEEDED: 'JOB_STATUS_SUCCEEDED',
  FAILED: 'JOB_STATUS_FAILED',
  DENIED: 'JOB_STATUS_DENIED',
  TIMEOUT: 'JOB_STATUS_TIMEOUT',
  CANCELLED: 'JOB_STATUS_CANCELLED',
  OUTPUT_QUARANTINED: 'JOB_STATUS_DENIED',
};

/** Fields of a packet besides its payload. */
export function packetHead(atUs: number, senderId: string, traceId: string, tenant: string | undefined) {
  const seconds = Math.floor(atUs / 1e6);
  return {
    traceId,
    senderId,
    createdAt: { seconds, nanos: (atUs - seconds * 1e6) * 1_000 },
    protocolVersion: String(protocolVersion),
    ...(tenant !== undefined && { identity: { tenantId: tenant } }),
  };
}

/** As in protojson, fields without a value are omitted. */
const omitEmpty = (fields: Readonly<Record<string, unknown>>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined && value !== ''));

/** Events of a transition: the request of a new job, the result of an ended one, else its status as progress. */
export function jobChangeEvents(change: JobChange, senderId: string): StreamEvent[] {
  const { id, event, state, at, fields } = change;
  const { tenant, run } = fields;
  const head = packetHead(Number(at), senderId, fields['trace_id'] ?? '', tenant);
  const toEvent = (type: string, payload: object): StreamEvent => ({
    class: 'job',
    type,
    ...(tenant !== undefined && { tenant }),
    jobId: id,
    ...(run !== undefined && { runId: run }),
    packet: { ...head, ...payload },
  });
  if (event === 'submit') return [toEvent('job.submit', { jobRequest: requestPayload(change) })];
  if (!isTerminal(state)) {
    const payload = { jobId: id, stepId: fields['run_path'], message: state, status: statusOf[state] };
    return [toEvent('job.progress', { jobProgress: omitEmpty(payload) })];
  }
  const result = toEvent(resultType(state), { jobResult: resultPayload(change) });
  if (event !== 'cancel') return [result];
  const cancel = { jobId: id, reason: fields['error_message'] ?? 'cancelled', requestedBy: senderId };
  return [toEvent('job.cancel', { jobCancel: cancel }), result];
}

function resultType(state: JobState): string {
  if (state === 'SUCCEEDED') return 'job.result.succeeded';
  return state === 'CANCELLED' ? 'job.result.cancelled' : 'job.result.failed';
}

function requestPayload({ id, fields }: JobChange): Record<string, unknown> {
  const request = fields['request'] === undefined ? undefined : (JSON.parse(fields['request']) as StoredRequest);
  const labels = publicLabels(request?.labels ?? {});
  return omitEmpty({
    jobId: id,
    topic: fields['topic'],
    priority: request && `JOB_PRIORITY_${request.priority.toUpperCase()}`,
    contextPtr: `redis://ctx:${id}`,
    parentJobId: request?.parent_job_id,
    workflowId: request?.workflow_id,
    tenantId: fields['tenant'],
    principalId: request?.principal_id,
    labels: Object.keys(labels).length > 0 ? labels : undefined,
  });
}

/** The code of an end that policy caused. */
const QUARANTINED = 'output_quarantined';

/** The pointer of a withheld result is not shown. */
function resultPayload({ id, state, fields }: JobChange): Record<string, unknown> {
  const safety = fields['output_safety'];
  const output_safety = safety === undefined ? undefined : (JSON.parse(safety) as OutputSafetyRecord);
  const isHidden = isWithheld({ state, ...(output_safety && { output_safety }) });
  return omitEmpty({
    jobId: id,
    status: statusOf[state],
    resultPtr: isHidden ? undefined : fields['result_ptr'],
    workerId: fields['worker_id'],
    executionMs: fields['execution_ms'] === undefined ? undefined : Number(fields['execution_ms']),
    errorCode: fields['error_code'] ?? (state === 'OUTPUT_QUARANTINED' ? QUARANTINED : undefined),
    errorMessage: fields['error_message'],
  });
}

/** Whether the event leaves out the pointer of a withheld result. */
export const hidesResult = ({ state, fields }: JobChange): boolean =>
  state === 'OUTPUT_QUARANTINED' && fields['result_ptr'] !== undefined;

/** Progress has no payload for the steps of a run, so its changes are alerts. */
export function runChangeEvent({ id, tenant, workflow, status, at }: RunChange, senderId: string): StreamEvent {
  const message = `run ${status}`;
  const details = { run_id: id, workflow_id: workflow, tenant, status };
  const alert = { level: 'info', message, component: senderId, severity: 'ALERT_SEVERITY_INFO', details, traceId: id };
  const packet = { ...packetHead(Number(at), senderId, id, tenant), alert };
  return { class: 'run', type: `run.${status}`, tenant, runId: id, packet };
}

/** A message in the conversation of a run, with fields in camel case. */
export function chatEvent({ id, tenant, at, message }: ChatChange, senderId: string): StreamEvent {
  const camel = (name: string) => name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
  const chatMessage = Object.fromEntries(
    Object.entries(message).map(([name, value]) => [camel(name), value as unknown]),
  );
  const packet = { ...packetHead(Number(at), senderId, id, tenant), chatMessage };
  return { class: 'run', type: 'workflow.chat', tenant, runId: id, packet };
}

/** A report in the log of a job. */
export interface LoggedReport {
  kind: 'progress' | 'log' | 'output' | 'withheld';
  job_id: string;
  attempt: number;
  /** µs */
  at: number;
  percent?: number;
  message?: string;
  lines?: { level: string; message: string; at_ms: number }[];
  text?: string;
  offset?: number;
}

/** Progress with the log lines and partial output of the report. */
export function reportEvent(change: ReportChange): StreamEvent {
  const { id, tenant, run, run_path: step, trace_id: trace = '', worker_id: worker = '' } = change;
  const report = JSON.parse(change.event) as LoggedReport;
  const { kind, percent, message, lines, text, offset, attempt } = report;
  const jobProgress = omitEmpty({
    jobId: id,
    stepId: step,
    percent,
    message: kind === 'withheld' ? 'partial output withheld' : message,
    status: 'JOB_STATUS_RUNNING',
    attempt,
    logs: lines?.map((line) => ({ level: line.level, message: line.message, atMs: line.at_ms })),
    output: text,
    outputOffset: offset,
  });
  return {
    class: 'job',
    type: kind === 'log' ? 'job.log' : kind === 'output' ? 'job.stream' : 'job.progress',
    tenant,
    jobId: id,
    ...(run !== undefined && { runId: run }),
    packet: { ...packetHead(report.at, worker, trace, tenant), jobProgress },
  };
}
