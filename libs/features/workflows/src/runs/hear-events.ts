import type { JobState } from '@svc/lifecycle';
import type { JobRecord, JsonObject, Store } from '@svc/store';
import { outputOf, type ChildRunEnded, type JobEnd, type JobEnded, type RunEvent, type RunState } from '@svc/workflow';
import { isOwnResult } from '@svc/contract';
import { runStateOf } from './run-codec';

/**
 * Results up to this size become the output of their step; of others only the pointer is kept.
 * See docs/reference/workflows.md#expressions.
 */
const inlineBytes = 256 * 1024;

type Stores = Pick<Store, 'jobs' | 'data' | 'runs'>;

/** Results that are kept with one run, together. */
const runBytes = 4 * 1024 * 1024;

/** How many bytes of results a run may still keep. */
class Room {
  constructor(public keptBytes: number) {}

  take(bytes: number): boolean {
    if (this.keptBytes + bytes > runBytes) return false;
    this.keptBytes += bytes;
    return true;
  }
}

export interface Heard {
  events: RunEvent[];
  /** Of the run, these results included. */
  keptBytes: number;
}

/**
 * The events of an inbox with what they are about, read where it is kept. One that tells of something that is not over is
 * left out.
 *
 * @param acting an earlier pass may not have done what it asked for: jobs that are not there may still come to be
 */
export async function hearEvents(
  store: Stores,
  inbox: readonly JsonObject[],
  run: RunState,
  acting: boolean,
): Promise<Heard> {
  const room = new Room(run.kept_bytes ?? 0);
  const heard = await Promise.all(
    inbox.map(async (event): Promise<(RunEvent | undefined)[]> => {
      const told = event as unknown as Exclude<RunEvent, JobEnded> | ToldEnd | LookAround;
      switch (told.kind) {
        case 'jobEnded': {
          const { jobId, state } = told;
          return [state ? await endOf(store, room, jobId, { ...told, state }) : await hearJob(store, room, jobId)];
        }
        case 'childRunEnded':
          return [await hearChild(store, told)];
        case 'look':
          return acting ? [] : Promise.all(openJobs(run).map((jobId) => hearJob(store, room, jobId)));
        default:
          return [told];
      }
    }),
  );
  return { events: heard.flat().filter((event) => event !== undefined), keptBytes: room.keptBytes };
}

/** Nothing was heard for long: have jobs ended without anybody telling? */
export interface LookAround {
  kind: 'look';
}

/** Jobs that the run waits for. */
const openJobs = ({ steps }: RunState): string[] =>
  Object.values(steps)
    .flatMap((step) => [step, ...(step.children ?? [])])
    .flatMap(({ open, job_id }) => (open && job_id !== undefined ? [job_id] : []));

/** The end of a job as the script that ended it tells it. */
type ToldEnd = { kind: 'jobEnded'; jobId: string } & Partial<EndFacts>;

type EndFacts = Pick<JobRecord, 'state' | 'reported' | 'error_code' | 'error_message' | 'result_ptr'> & {
  /** The result, when it is small. */
  body?: string;
};

/** How a job ended, with its result; undefined while it has not. A job of which nothing is left has failed. */
async function hearJob(store: Pick<Stores, 'jobs' | 'data'>, room: Room, jobId: string): Promise<JobEnded | undefined> {
  const job = await store.jobs.load(jobId);
  if (job) return endOf(store, room, jobId, job);
  return { kind: 'jobEnded', jobId, status: 'FAILED', error: 'nothing is left of the job', code: 'job_lost' };
}

async function endOf(
  store: Pick<Stores, 'data'>,
  room: Room,
  jobId: string,
  job: EndFacts,
): Promise<JobEnded | undefined> {
  const status = statusOf(job);
  if (!status) return undefined;
  const { error_message: error, error_code: code } = job;
  const end = { kind: 'jobEnded', jobId, status, ...(error && { error }), ...(code && { code }) } as const;
  if (status !== 'SUCCEEDED' || !job.result_ptr) return end;
  const resultPtr = job.result_ptr;
  const body = job.body ?? (await readBody(store.data, jobId, resultPtr));
  const output = body === undefined ? undefined : parsed(body);
  if (output === undefined || body === undefined) return { ...end, resultPtr };
  if (room.take(Buffer.byteLength(body))) return { ...end, resultPtr, output };
  const message = `the results of the run would take more than ${runBytes} bytes: hand on pointers, or pick a part with result_data_path`;
  return { ...end, status: 'FAILED_FATAL', error: message, code: 'run_too_large' };
}

const ends: Partial<Record<JobState, JobEnd>> = {
  SUCCEEDED: 'SUCCEEDED',
  FAILED: 'FAILED',
  TIMEOUT: 'TIMEOUT',
  DENIED: 'DENIED',
  CANCELLED: 'CANCELLED',
  OUTPUT_QUARANTINED: 'OUTPUT_QUARANTINED',
};

/** A worker's FAILED_FATAL and DENIED both leave the job FAILED, and mean different ends of its step. */
const statusOf = ({ state, reported }: EndFacts): JobEnd | undefined =>
  state === 'FAILED' && reported ? reported : ends[state];

/** Only the job's own result becomes the output of its step; of any other pointer only the text is kept. */
async function readBody(data: Stores['data'], jobId: string, pointer: string): Promise<string | undefined> {
  if (!isOwnResult(jobId, pointer)) return undefined;
  const read = await data.read(pointer, inlineBytes);
  if (!read || read.sizeBytes > inlineBytes || read.sizeBytes === 0) return undefined;
  return read.body.toString('utf8');
}

function parsed(body: string): unknown {
  try {
    return JSON.parse(body) as unknown;
  } catch {
    return undefined;
  }
}

async function hearChild(store: Pick<Stores, 'runs'>, told: ChildRunEnded): Promise<ChildRunEnded> {
  // Refused before it began: the event says it all.
  if (told.error) return told;
  const loaded = await store.runs.load(told.childRunId);
  if (!loaded) {
    return { ...told, status: 'failed', error: { message: 'nothing is left of the child run', code: 'run_lost' } };
  }
  const child = runStateOf(loaded);
  const { input, context, error, letters } = child;
  return {
    ...told,
    input,
    ctx: context,
    steps: stepsOf(child),
    ...(child.output !== undefined && { output: child.output }),
    ...(error && { error }),
    ...(letters && { letters }),
  };
}

/** What a parent's `output_mapping` may read of the steps. */
const stepsOf = ({ steps }: RunState): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(steps).map(([id, step]) => [
      id,
      { status: step.status, output: outputOf(step) ?? null, error: step.error ?? null },
    ]),
  );
