import { variables } from './declare';

/** Limits of planning a run, for the processes that take its turns: they must have equal values. */
export const workflowLimitVariables = variables({
  foreachMaxItems: {
    name: 'WORKFLOW_FOREACH_MAX_ITEMS',
    type: 'int',
    min: 1,
    default: '1000',
    doc: 'Maximum items of a for_each step.',
  },
  exprMaxLength: {
    name: 'WORKFLOW_EXPR_MAX_LENGTH',
    type: 'int',
    min: 1,
    default: '4096',
    doc: 'Maximum characters of an expression.',
  },
  exprTimeoutMs: {
    name: 'WORKFLOW_EXPR_TIMEOUT_MS',
    type: 'int',
    min: 1,
    default: '100',
    doc: 'Timeout of an expression, in milliseconds.',
  },
  exprMaxResultItems: {
    name: 'WORKFLOW_EXPR_MAX_RESULT_ITEMS',
    type: 'int',
    min: 1,
    default: '10000',
    doc: 'Maximum items in the result of an expression.',
  },
});
