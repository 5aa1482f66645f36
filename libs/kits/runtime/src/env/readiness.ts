import { variables } from './declare';

/** Used to select workers: by schedulers, and by gateway and engine for jobs that they place at submission. */
export const readinessVariables = variables({
  workerReadinessRequired: {
    name: 'WORKER_READINESS_REQUIRED',
    type: 'bool',
    shownDefault: 'from config, else false',
    doc: 'Dispatches jobs only to workers that announced readiness.',
  },
  workerReadinessTtlMs: {
    name: 'WORKER_READINESS_TTL',
    type: 'duration',
    min: '1s',
    default: '60s',
    doc: 'Time a readiness announcement of a worker is valid.',
  },
});
