import { variables } from './declare';

/** Retention of evaluation runs, for the processes that start and end them. */
export const evalVariables = variables({
  evalRunTtlSec: {
    name: 'SVC_EVAL_RUN_TTL_SECONDS',
    type: 'int',
    min: 3_600,
    default: '2592000',
    doc: 'Retention of evaluation runs, in seconds; equal in all services.',
  },
});

/** The decision log, for the processes that read and append it. */
export const decisionLogVariables = variables({
  decisionLogTtlSec: {
    name: 'SVC_DECISION_LOG_TTL_SECONDS',
    type: 'int',
    min: 3_600,
    default: '2592000',
    doc: 'Retention of the decision log, in seconds.',
  },
});
