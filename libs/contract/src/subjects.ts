import type { Packet, PayloadKind } from './packets';
import type { DispatchIdentity, JobRequest, JobStatus } from './proto/messages';
import { jobStatusName } from './proto/names';

/** A JetStream stream: limits retention, file storage. See docs/reference/worker-protocol.md#delivery. */
export interface StreamSpec {
  name: 'SVC_SYS' | 'SVC_JOBS';
  subjects: readonly string[];
}

/**
 * SVC_SYS names its subjects one by one: `sys.>` would also keep heartbeats and progress, and would answer request/reply
 * subjects with publish acknowledgements.
 */
export const streams = {
  sys: {
    name: 'SVC_SYS',
    // The last is that of results which workers publish with their own credential.
    subjects: ['sys.job.submit', 'sys.job.result', 'sys.job.dlq', 'sys.audit.export', 'worker.*.sys.job.result'],
  },
  jobs: { name: 'SVC_JOBS', subjects: ['job.>', 'worker.*.jobs'] },
} as const satisfies Record<string, StreamSpec>;

/** Within this time a second publish with the same message id is dropped. */
export const duplicateWindowMs = 120_000;
/** Deliveries of one message before it is dead-lettered. */
export const maxDeliver = 100;
/** Message header that JetStream reads the message id from. */
export const messageIdHeader = 'Nats-Msg-Id';

/** Queue groups of the platform's services. */
export type QueueGroup = 'svc-scheduler' | 'svc-workflow-engine' | 'svc-gateway' | 'audit-exporters';

export interface SubjectSpec {
  name: string;
  /** Message format: a packet with this payload, or `json` for the one subject without packets. */
  payload: PayloadKind | 'json';
  /** The stream that stores it; absent = core NATS, lost without a subscriber. */
  stream?: keyof typeof streams;
  /** Groups that share its messages, each with its own durable consumer; none = every subscriber receives all. */
  groups: readonly QueueGroup[];
}

/** Every fixed subject of the bus. See docs/subjects.md. */
export const subjects = {
  jobSubmit: { name: 'sys.job.submit', payload: 'job_request', stream: 'sys', groups: ['svc-scheduler'] },
  jobResult: {
    name: 'sys.job.result',
    payload: 'job_result',
    stream: 'sys',
    groups: ['svc-scheduler', 'svc-workflow-engine'],
  },
  jobProgress: { name: 'sys.job.progress', payload: 'job_progress', groups: [] },
  /** Log lines and partial output of jobs. */
  jobStream: { name: 'sys.job.stream', payload: 'job_progress', groups: ['svc-scheduler'] },
  /** Received by every worker; shared by the scheduler's replicas. */
  jobCancel: { name: 'sys.job.cancel', payload: 'job_cancel', groups: ['svc-scheduler'] },
  jobDlq: { name: 'sys.job.dlq', payload: 'job_result', stream: 'sys', groups: ['svc-gateway'] },
  heartbeat: { name: 'sys.heartbeat', payload: 'heartbeat', groups: [] },
  handshake: { name: 'sys.handshake', payload: 'handshake', groups: [] },
  alert: { name: 'sys.alert', payload: 'alert', groups: [] },
  /** Alerts of services once more. Workers may not publish here, so it proves that a service is the sender. */
  serviceAlert: { name: 'sys.service.alert', payload: 'alert', groups: [] },
  /** Contains no configuration: message `config changed`, details scope and scope_id. Replicas reload from the store. */
  configChanged: { name: 'sys.config.changed', payload: 'alert', groups: [] },
  /** Contains no credential: message `credential changed`, details id. Gateways check the open streams of the credential. */
  credentialChanged: { name: 'sys.credential.changed', payload: 'alert', groups: [] },
  workflowEvent: { name: 'sys.workflow.event', payload: 'alert', groups: [] },
  auditExport: { name: 'sys.audit.export', payload: 'json', stream: 'sys', groups: ['audit-exporters'] },
  auditOutputPolicy: { name: 'sys.audit.output_policy', payload: 'job_progress', groups: [] },
  workerChallenge: {
    name: 'sys.worker.handshake.challenge',
    payload: 'worker_handshake_challenge_request',
    groups: ['svc-scheduler'],
  },
  workerAuthenticate: {
    name: 'sys.worker.handshake.authenticate',
    payload: 'worker_handshake_authenticate',
    groups: ['svc-scheduler'],
  },
} as const satisfies Record<string, SubjectSpec>;

export type SubjectId = keyof typeof subjects;

/** Worker ids are part of a subject and of a consumer name. */
export const workerIdPattern = /^[A-Za-z0-9_-]{1,128}$/;

/** Subject on which schedulers and gateways dispatch jobs to one worker. The id must match {@link workerIdPattern}. */
export const workerJobsSubject = (workerId: string): string => `worker.${workerId}.jobs`;

/** Topic of the jobs of approval steps; no worker serves it. */
export const approvalGateTopic = 'job.svc.approval-gate';

/** A valid publish subject: tokens without wildcards or white space. */
export const isPublishSubject = (subject: string): boolean => /^[^\s.*>]+(\.[^\s.*>]+)*$/.test(subject);

/** `dur_svc-scheduler__sys_job_submit`. */
export const durableName = (group: string, subject: string): string =>
  `dur_${group}__${subject.replaceAll('.', '_').replaceAll('*', 'STAR').replaceAll('>', 'GT')}`;

/** One durable consumer: a group's share of one subject. */
export interface ConsumerSpec<Payload extends PayloadKind | 'json' = PayloadKind | 'json'> {
  subject: string;
  payload: Payload;
  group: string;
  durable: string;
  stream: StreamSpec['name'];
}

type DurableSubject = SubjectSpec & { stream: keyof typeof streams };

const buildConsumer = <const Subject extends DurableSubject>(
  { name, payload, stream }: Subject,
  group: Subject['groups'][number],
): ConsumerSpec<Subject['payload']> => ({
  subject: name,
  payload,
  group,
  durable: durableName(group, name),
  stream: streams[stream].name,
});

/** The durable consumers of the platform's services. */
export const consumers = {
  schedulerSubmit: buildConsumer(subjects.jobSubmit, 'svc-scheduler'),
  schedulerResult: buildConsumer(subjects.jobResult, 'svc-scheduler'),
  engineResult: buildConsumer(subjects.jobResult, 'svc-workflow-engine'),
  gatewayDlq: buildConsumer(subjects.jobDlq, 'svc-gateway'),
  auditExport: buildConsumer(subjects.auditExport, 'audit-exporters'),
} as const satisfies Record<string, ConsumerSpec>;

/** Consumer of a worker's own subject; survives restarts of the worker. */
export const workerConsumer = (workerId: string): ConsumerSpec<'job_request'> => ({
  subject: workerJobsSubject(workerId),
  payload: 'job_request',
  group: workerId,
  durable: durableName(workerId, workerJobsSubject(workerId)),
  stream: streams.jobs.name,
});

/** Consumer of a topic, shared by the workers of a group; the group defaults to the subject. */
export const topicConsumer = (subject: string, group = subject): ConsumerSpec<'job_request'> => ({
  subject,
  payload: 'job_request',
  group,
  durable: durableName(group, subject).replace(/[.*>\s]/g, '_'),
  stream: streams.jobs.name,
});

/** Heartbeat label that identifies one process of a worker: a new value means that the worker was restarted. */
export const bootIdLabel = 'svc.boot_id';
/** Heartbeat label with the value `true`: this process names the dispatch in every result and progress report. */
export const dispatchEchoLabel = 'svc.echoes_dispatch';
/**
 * Heartbeat label with the value `true`: this process reads inputs that the dispatch contains, and puts small results into
 * the result message when the dispatch has a ticket. See docs/reference/worker-protocol.md#inline-data.
 */
export const inlineDataLabel = 'svc.inline_data';
/**
 * Heartbeat label with the value `true`: this process reads and writes the store itself, so dispatches to it have no data
 * URLs. See docs/adr/0014-data-urls-for-workers.md.
 */
export const storeAccessLabel = 'svc.store_access';
/**
 * Heartbeat label with the value `true`: this process verifies grants, so dispatches to it have one where the installation
 * signs them. See docs/reference/worker-protocol.md#grants.
 */
export const grantsLabel = 'svc.grants';
/**
 * Heartbeat label with the value `true`: this process records side effects, so its dispatches have the URL for that also when
 * it has access to the store. See docs/reference/effects.md.
 */
export const effectsLabel = 'svc.effects';
/** Maximum body of an input or result within a message; larger ones are stored and sent by pointer. */
export const maxInlineBytes = 64 * 1024;
/** Label that gives a repeated publish a new message id, so that the duplicate window does not drop it. */
export const busMessageIdLabel = 'svc.bus_msg_id';
/** Env keys that repeat a request's dispatch for older workers. See docs/reference/worker-protocol.md#dispatch. */
export const dispatchEnv = { dispatchId: 'SVC_DISPATCH_ID', attempt: 'SVC_ATTEMPT' } as const;

/** Env keys of the URLs with which a worker without store access reads the input and stores results and artifacts. */
export const dataUrlEnv = {
  input: 'SVC_INPUT_URL',
  result: 'SVC_RESULT_URL',
  artifact: 'SVC_ARTIFACT_URL',
  effect: 'SVC_EFFECT_URL',
} as const;
export type DataPurpose = keyof typeof dataUrlEnv;

/** The dispatch of a request, read from its env when the field is absent; empty and 0 when neither is set. */
export const readDispatch = ({ dispatch, env }: Pick<JobRequest, 'dispatch' | 'env'>): DispatchIdentity =>
  dispatch ?? {
    dispatch_id: env[dispatchEnv.dispatchId] ?? '',
    attempt: Number(env[dispatchEnv.attempt]) || 0,
    assigned_worker_id: '',
  };

/** The message id of a job request, from its parts. @param attempt number of the dispatch; 0 = a submission */
export function jobRequestMessageId(
  subject: string,
  jobId: string,
  labels: Readonly<Record<string, string>>,
  attempt: number,
): string {
  const label = labels[busMessageIdLabel];
  if (label) return `jobreq:${subject}:${label}`;
  return attempt > 0 ? `jobreq:${jobId}:${attempt}` : `jobreq:${jobId}`;
}

/** The message id of a result, from its parts. @param attempt number of the dispatch; 0 = unknown */
export const jobResultMessageId = (subject: string, jobId: string, attempt: number, status: JobStatus): string =>
  `${subject}:${jobId}:${attempt}:${jobStatusName(status)}`;

/**
 * The message id of a durable publish, undefined for payloads without one. It contains the attempt, so that a second
 * dispatch or result within the duplicate window is not dropped as a repeat of the first.
 */
export function messageId(subject: string, packet: Packet): string | undefined {
  if (packet.kind === 'job_request') {
    const { job_id, labels } = packet.body;
    return jobRequestMessageId(subject, job_id, labels, readDispatch(packet.body).attempt);
  }
  if (packet.kind === 'job_result') {
    const { job_id, dispatch, status } = packet.body;
    return jobResultMessageId(subject, job_id, dispatch?.attempt ?? 0, status);
  }
  return undefined;
}
