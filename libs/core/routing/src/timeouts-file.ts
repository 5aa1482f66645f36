import { readYamlDocument, type Parsed } from '@svc/contract';
import Joi from 'joi';
import { bestMatch } from './topic-pattern';

export interface TopicTimeouts {
  timeout_seconds?: number;
  running_timeout_seconds?: number;
  max_retries?: number;
  /** Maximum time a job waits for a worker; unlimited by default. See docs/reference/jobs.md#retries. */
  max_pending_seconds?: number;
}
export interface WorkflowTimeouts {
  child_timeout_seconds?: number;
  total_timeout_seconds?: number;
  max_retries?: number;
}

/** See docs/reference/jobs.md#deadlines-and-time-outs. */
export interface TimeoutTable {
  reconciler: { dispatch_timeout_seconds: number; running_timeout_seconds: number; scan_interval_seconds: number };
  topics: Readonly<Record<string, TopicTimeouts>>;
  workflows: Readonly<Record<string, WorkflowTimeouts>>;
}

export const defaultTimeouts: TimeoutTable = {
  reconciler: { dispatch_timeout_seconds: 300, running_timeout_seconds: 900, scan_interval_seconds: 30 },
  topics: {},
  workflows: {},
};

const seconds = Joi.number().integer().min(1);
const retries = Joi.number().integer().min(0).max(100);
const document = Joi.object<TimeoutTable>({
  reconciler: Joi.object({
    dispatch_timeout_seconds: seconds,
    running_timeout_seconds: seconds,
    scan_interval_seconds: seconds,
  }),
  topics: Joi.object().pattern(
    /.*/,
    Joi.object({
      timeout_seconds: seconds,
      running_timeout_seconds: seconds,
      max_retries: retries,
      max_pending_seconds: seconds,
    }),
  ),
  workflows: Joi.object().pattern(
    /.*/,
    Joi.object({ child_timeout_seconds: seconds, total_timeout_seconds: seconds, max_retries: retries }),
  ),
});

export function parseTimeouts(text: string, source: string): Parsed<TimeoutTable> {
  const read = readYamlDocument(text, source, document);
  if (!read.ok) return read;
  const { reconciler, topics, workflows } = read.value as Partial<TimeoutTable>;
  return {
    ok: true,
    value: {
      reconciler: { ...defaultTimeouts.reconciler, ...reconciler },
      topics: topics ?? {},
      workflows: workflows ?? {},
    },
  };
}

export interface JobTimeouts {
  dispatchMs: number;
  runningMs: number;
  maxRetries: number | undefined;
  maxPendingMs: number | undefined;
}

/** Timeouts of a job: from its topic's entry (patterns allowed), its workflow's, then the reconciler's. */
export function timeoutsFor(table: TimeoutTable, topic: string, workflowId?: string): JobTimeouts {
  const own = bestMatch(table.topics, topic)?.value ?? {};
  const workflow = (workflowId === undefined ? undefined : table.workflows[workflowId]) ?? {};
  const dispatch = own.timeout_seconds ?? workflow.child_timeout_seconds ?? table.reconciler.dispatch_timeout_seconds;
  return {
    dispatchMs: dispatch * 1_000,
    runningMs: (own.running_timeout_seconds ?? table.reconciler.running_timeout_seconds) * 1_000,
    maxRetries: own.max_retries ?? workflow.max_retries,
    maxPendingMs: own.max_pending_seconds === undefined ? undefined : own.max_pending_seconds * 1_000,
  };
}
