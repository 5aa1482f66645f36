import type { StepDefinition, WorkflowDefinition } from '@svc/workflow';
import type { World } from './world';

type Steps = WorkflowDefinition['steps'];

const work = (after?: string, more: StepDefinition = {}): StepDefinition => ({
  topic: 'job.chaos.work',
  input: { crate: 7 },
  ...(after !== undefined && { depends_on: [after] }),
  ...more,
});
const undo = { compensation: { topic: 'job.chaos.undo' } };

/** Timeout of every wait, since clients may give up. */
const longestWaitSec = 90;

/** The workflows of the crash walk and the chaos run, by their ids. */
export const workflows = {
  'chaos-linear': {
    weigh: work(),
    price: { type: 'transform', depends_on: ['weigh'], input: { euro: 14 } },
    label: work('price'),
  },
  'chaos-fan-out': {
    each: work(undefined, { for_each: 'input.items', max_parallel: 3, input: { item: '${item}' } }),
    join: { type: 'transform', depends_on: ['each'], input: { all: true } },
  },
  // A delay step, and a retry delay: the first job fails.
  'chaos-timer': {
    dry: { type: 'delay', delay_sec: 1 },
    again: {
      topic: 'job.chaos.again',
      depends_on: ['dry'],
      retry: { max_retries: 5, initial_backoff_sec: 1, multiplier: 1 },
    },
  },
  'chaos-gate': {
    ask: {
      type: 'approval',
      input: { title: 'Shall it?' },
      gate: { expires_sec: longestWaitSec },
      on_error: 'refused',
    },
    go: work('ask', { condition: "steps.ask.status == 'succeeded'" }),
    refused: { type: 'transform', input: { refused: true } },
  },
  'chaos-saga': {
    ship: work(undefined, undo),
    crane: work('ship', undo),
    crew: work('crane', undo),
    pay: { topic: 'job.chaos.broken', depends_on: ['crew'] },
  },
  'chaos-child': {
    both: { type: 'parallel', input: { steps: ['left', 'right'], strategy: 'all' } },
    left: { type: 'subworkflow', input: { workflow_id: 'chaos-linear' } },
    right: { type: 'subworkflow', input: { workflow_id: 'chaos-linear' } },
    after: work('both'),
  },
  'chaos-long': {
    first: work(undefined, undo),
    slow: { topic: 'job.chaos.slow', depends_on: ['first'] },
    sub: { type: 'subworkflow', depends_on: ['first'], input: { workflow_id: 'chaos-slow' } },
  },
  'chaos-slow': { slow: { topic: 'job.chaos.slow' } },
  'chaos-signal': {
    customs: { type: 'signal', signal: 'cleared', timeout_sec: longestWaitSec },
    release: work('customs'),
  },
} as const satisfies Record<string, Steps>;
export type ChaosWorkflow = keyof typeof workflows;

const table: Readonly<Record<string, Steps>> = workflows;

/** Steps of one of these workflows; undefined for any other. */
export const getSteps = (workflowId: string): Steps | undefined => table[workflowId];

/** Stores all workflows. @throws Error with the first error response */
export async function putWorkflows(world: World): Promise<void> {
  const admin = world.client('admin');
  for (const [id, steps] of Object.entries(table)) await admin.putWorkflow({ id, name: id, steps });
}
