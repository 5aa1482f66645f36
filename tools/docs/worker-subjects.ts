import { streams } from '@svc/contract';

/** Rows of the table of subjects that contain the id of a worker: subject, message, stream, receivers. */
export const workerSubjectRows: [string, string, string, string][] = [
  [
    '`worker.<worker id>.jobs`',
    'job_request; worker_handshake_result: a session has ended',
    streams.jobs.name,
    'that worker',
  ],
  ['`worker.<worker id>.cancel`', 'job_cancel', 'none (core NATS)', 'that worker, as `sys.job.cancel`'],
  [
    '`worker.<worker id>.sys.…`',
    'what that worker published on `sys.…` with its own credential',
    `${streams.sys.name} for results`,
    'as for `sys.…`',
  ],
];
