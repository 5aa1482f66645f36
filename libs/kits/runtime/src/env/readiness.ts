import { variables } from './declare';

/** What the schedulers go by when they choose a worker, and the gateway when it says why none was chosen. */
export const readinessVariables = variables({
  workerReadinessRequired: {
    name: 'WORKER_READINESS_REQUIRED',
    type: 'bool',
    shownDefault: 'what config says, else false',
    doc: 'Sends jobs only to workers that said they are ready.',
  },
});
