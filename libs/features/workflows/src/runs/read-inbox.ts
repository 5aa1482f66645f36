import type { JobState } from '@svc/lifecycle';
import type { JobRecord, JsonObject, Store } from '@svc/store';
import {
  getStepOutput,
  type ChildRunEnded,
  type JobEnd,
  type JobEnded,
  type RunEvent,
  type RunState,
} from '@svc/workflow';
import { isOwnResult } from '@svc/contract';
import { toRunState } from './run-codec';

/**
 * Results up to this size become the output of their step; of others only the pointer is kept.
 * See docs/reference/workflows.md#expressions.
 */
const inlineBytes = 256 * 1024;

type Stores = Pick<Store, 'jobs' | 'data' | 'runs'>;

/** Total size of the results kept with one run. */
const maxRunBytes = 4 * 1024 * 1024;

/** Tracks the bytes of results kept with a run. */
class ResultBudget {
  constructor(public keptBytes: number) {}

  /** @returns false when the result does not fit */
  reserve(bytes: number): boolean {
    if (this.keptBytes + bytes > maxRunBytes) return false;
    this.keptBytes += bytes;
    return true;
  }
}

export interface InboxResult {
  events: RunEvent[];
  /** Size of the results kept with the run, including those of these events. */
  keptBytes: number;
}

/**
 * Completes the events of an inbox with the job results and child runs they refer to. Events about jobs that have not
 * ended are dropped.
 *
 * @param acting actions of an earlier pass may be pending, so a missing job may still be created
 */
export async function readInbox(
  store: Stores,
  inbox: readonly JsonObject[],
  run: RunState,
  acting: boolean,
): Promise<InboxResult> {
  const budget = new ResultBudget(run.kept_bytes ?? 0);
  const completed = await Promise.all(
    inbox.map(async (event): Promise<(RunEvent | undefined)[]> => {
      const entry = event as unknown as Exclude<RunEvent, JobEnded> | PostedJobEnd | CheckJobs;
      switch (entry.kind) {
        case 'jobEnded': {
          const { jobId, state } = entry;
          return [
            state
              ? await toJobEnded(store, budget, jobId, { ...entry, state })
              : await readJobEnd(store, budget, jobId),
          ];
        }
        case 'childRunEnded':
          return [await readChildEnd(store, entry)];
        case 'look':
          return acting ? [] : Promise.all(openJobIds(run).map((jobId) => readJobEnd(store, budget, jobId)));
        default:
          return [entry];
      }
    }),
  );
  return { events: completed.flat().filter((event) => event !== undefined), keptBytes: budget.keptBytes };
}

/** Posted to a run that had no events for long: rechecks its open jobs for a missed end. */
export interface CheckJobs {
  kind: 'look';
}

/** Ids of the jobs that the run waits for. */
const openJobIds = ({ steps }: RunState): string[] =>
  Object.values(steps)
    .flatMap((step) => [step, ...(step.children ?? [])])
    .flatMap(({ open, job_id }) => (open && job_id !== undefined ? [job_id] : []));

/** The end of a job as the script that ended it posts it. */
type PostedJobEnd = { kind: 'jobEnded'; jobId: string } & Partial<EndFacts>;

type EndFacts = Pick<JobRecord, 'state' | 'reported' | 'error_code' | 'error_message' | 'result_ptr'> & {
  /** The result, when it is small. */
  body?: string;
};

/** The end of a job, with its result; undefined while it is live. A job whose record is gone counts as failed. */
async function readJobEnd(
  store: Pick<Stores, 'jobs' | 'data'>,
  budget: ResultBudget,
  jobId: string,
): Promise<JobEnded | undefined> {
  const job = await store.jobs.load(jobId);
  if (job) return toJobEnded(store, budget, jobId, job);
  return { kind: 'jobEnded', jobId, status: 'FAILED', error: 'nothing is left of the job', code: 'job_lost' };
}

async function toJobEnded(
  store: Pick<Stores, 'data'>,
  budget: ResultBudget,
  jobId: string,
  job: EndFacts,
): Promise<JobEnded | undefined> {
  const status = toJobEnd(job);
  if (!status) return undefined;
  const { error_message: error, error_code: code } = job;
  const end = { kind: 'jobEnded', jobId, status, ...(error && { error }), ...(code && { code }) } as const;
  if (status !== 'SUCCEEDED' || !job.result_ptr) return end;
  const resultPtr = job.result_ptr;
  const body = job.body ?? (await readBody(store.data, jobId, resultPtr));
  const output = body === undefined ? undefined : parseJson(body);
  if (output === undefined || body === undefined) return { ...end, resultPtr };
  if (budget.reserve(Buffer.byteLength(body))) return { ...end, resultPtr, output };
  const message = `the results of the run would take more than ${maxRunBytes} bytes: hand on pointers, or pick a part with result_data_path`;
  return { ...end, status: 'FAILED_FATAL', error: message, code: 'run_too_large' };
}

const endsByState: Partial<Record<JobState, JobEnd>> = {
  SUCCEEDED: 'SUCCEEDED',
  FAILED: 'FAILED',
  TIMEOUT: 'TIMEOUT',
  DENIED: 'DENIED',
  CANCELLED: 'CANCELLED',
  OUTPUT_QUARANTINED: 'OUTPUT_QUARANTINED',
};

/** A worker's FAILED_FATAL and DENIED both leave the job FAILED, but end its step differently. */
const toJobEnd = ({ state, reported }: EndFacts): JobEnd | undefined =>
  state === 'FAILED' && reported ? reported : endsByState[state];

/** Reads only the job's own result, which becomes the output of its step; any other pointer is kept unread. */
async function readBody(data: Stores['data'], jobId: string, pointer: string): Promise<string | undefined> {
  if (!isOwnResult(jobId, pointer)) return undefined;
  const read = await data.read(pointer, inlineBytes);
  if (!read || read.sizeBytes > inlineBytes || read.sizeBytes === 0) return undefined;
  return read.body.toString('utf8');
}

function parseJson(body: string): unknown {
  try {
    return JSON.parse(body) as unknown;
  } catch {
    return undefined;
  }
}

async function readChildEnd(store: Pick<Stores, 'runs'>, event: ChildRunEnded): Promise<ChildRunEnded> {
  // Rejected before it began: the event is complete.
  if (event.error) return event;
  const loaded = await store.runs.load(event.childRunId);
  if (!loaded) {
    return { ...event, status: 'failed', error: { message: 'nothing is left of the child run', code: 'run_lost' } };
  }
  const child = toRunState(loaded);
  const { input, context, error, letters } = child;
  return {
    ...event,
    input,
    ctx: context,
    steps: toStepScope(child),
    ...(child.output !== undefined && { output: child.output }),
    ...(error && { error }),
    ...(letters && { letters }),
  };
}

/** The steps as a parent's `output_mapping` may read them. */
const toStepScope = ({ steps }: RunState): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(steps).map(([id, step]) => [
      id,
      { status: step.status, output: getStepOutput(step) ?? null, error: step.error ?? null },
    ]),
  );
