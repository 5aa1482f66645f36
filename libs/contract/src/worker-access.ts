import { subjects, workerConsumer, workerIdPattern, workerJobsSubject } from './subjects';

/**
 * Subjects of the NATS connection that a worker opens with its credential. Each worker has an account of its own, which
 * imports these subjects only, so inboxes and replies are private to it. The server changes the subject of what the worker
 * publishes to one that contains its id, so the subject proves the sender.
 * See docs/adr/0032-store-access-by-credential.md.
 */

/** User of the services in NATS and Redis; no worker has this id. */
export const serviceUser = 'svc';

/** Fixed subjects that workers publish and the services consume. */
export const subjectsFromWorkers: readonly string[] = [
  subjects.jobResult,
  subjects.jobProgress,
  subjects.jobStream,
  subjects.heartbeat,
  subjects.handshake,
  subjects.alert,
  subjects.workerChallenge,
  subjects.workerAuthenticate,
].map(({ name }) => name);

/** A JetStream request that clients send before others. */
export const jetStreamInfoSubject = '$JS.API.INFO';

/** NATS account of a worker. */
export const workerAccount = (workerId: string): string => `worker-${workerId}`;

/** Redis user of a worker. */
export const workerRedisUser = (workerId: string): string => `worker-${workerId}`;

/** Subject under which the services receive what a worker publishes on a fixed subject; `*` is any worker. */
export const sentBySubject = (workerId: string, subject: string): string => `worker.${workerId}.${subject}`;

/** Subject on which the services cancel jobs of one worker, which receives it as `sys.job.cancel`. */
export const workerCancelSubject = (workerId: string): string => `worker.${workerId}.cancel`;

const sentByWorker = /^worker\.([A-Za-z0-9_-]{1,128})\.(sys\..+)$/;

/** The worker and the fixed subject of {@link sentBySubject}; undefined for other subjects. */
export function readSentBy(subject: string): { worker: string; subject: string } | undefined {
  // Most messages of the bus have another subject.
  if (!subject.startsWith('worker.')) return undefined;
  const [, worker, fixed] = sentByWorker.exec(subject) ?? [];
  return worker !== undefined && fixed !== undefined ? { worker, subject: fixed } : undefined;
}

/** Whether a worker id can be the name of a NATS user. */
export const canBeNatsUser = (workerId: string): boolean => workerIdPattern.test(workerId) && workerId !== serviceUser;

/** One import of the account of a worker: the subject as its worker uses it, and as the services do. */
export interface WorkerImport {
  kind: 'service' | 'stream';
  subject: string;
  services: string;
}

/**
 * What a worker reaches with its credential: it publishes as itself, reads its own dispatches and cancels, and pulls from its
 * own consumer, which the services create. It cannot create consumers: one with options of its choice could deliver to any
 * subject of the services.
 */
export function workerImports(workerId: string): WorkerImport[] {
  const { stream, durable } = workerConsumer(workerId);
  const same = (kind: WorkerImport['kind'], subject: string): WorkerImport => ({ kind, subject, services: subject });
  return [
    ...subjectsFromWorkers.map((subject): WorkerImport => ({
      kind: 'service',
      subject,
      services: sentBySubject(workerId, subject),
    })),
    same('service', jetStreamInfoSubject),
    same('service', `$JS.API.CONSUMER.INFO.${stream}.${durable}`),
    same('service', `$JS.API.CONSUMER.MSG.NEXT.${stream}.${durable}`),
    same('service', `$JS.ACK.${stream}.${durable}.>`),
    same('stream', workerJobsSubject(workerId)),
    { kind: 'stream', subject: subjects.jobCancel.name, services: workerCancelSubject(workerId) },
  ];
}
