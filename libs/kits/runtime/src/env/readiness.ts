import { variables } from './declare';

/** Used by schedulers to select a worker, and by the gateway to explain why a job has none. */
export const readinessVariables = variables({
  workerReadinessRequired: {
    name: 'WORKER_READINESS_REQUIRED',
    type: 'bool',
    shownDefault: 'from config, else false',
    doc: 'Dispatches jobs only to workers that announced readiness.',
  },
});
