import type { JobState } from '@svc/lifecycle';
import type { JobRecord, JsonObject, Store } from '@svc/store';
import { outputOf, type ChildRunEnded, type JobEnd, type JobEnded, type RunEvent, type RunState } from '@svc/workflow';
import { runStateOf } from './run-codec';

/** Results up to this size become the output of their step; of others only the pointer is kept. Engine contract B4. */
const inlineBytes = 256 * 1024;

type Stores = Pick<Store, 'jobs' | 'data' | 'runs'>;

/**
 * The events of an inbox with what they are about: ends of jobs and of child runs say only whose they are, and are read
 * where they are kept. One that tells of something that is not over is left out.
 */
export async function hearEvents(store: Stores, inbox: readonly JsonObject[], run: RunState): Promise<RunEvent[]> {
  const heard = await Promise.all(
    inbox.map(async (event): Promise<(RunEvent | undefined)[]> => {
      const told = event as unknown as Exclude<RunEvent, JobEnded> | ToldEnd | LookAround;
      switch (told.kind) {
        case 'jobEnded':
          return [
            told.state
              ? await endOf(store, told.jobId, { ...told, state: told.state })
              : await hearJob(store, told.jobId),
          ];
        case 'childRunEnded':
          return [await hearChild(store, told)];
        case 'look':
          return Promise.all(openJobs(run).map((jobId) => hearJob(store, jobId)));
        default:
          return [told];
      }
    }),
  );
  return heard.flat().filter((event) => event !== undefined);
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

type EndFacts = Pick<JobRecord, 'state' | 'error_status' | 'error_code' | 'error_message' | 'result_ptr'> & {
  /** The result, when it is small. */
  body?: string;
};

/** How a job ended, with its result; undefined while it has not. A job of which nothing is left has failed. */
async function hearJob(store: Pick<Stores, 'jobs' | 'data'>, jobId: string): Promise<JobEnded | undefined> {
  const job = await store.jobs.load(jobId);
  if (job) return endOf(store, jobId, job);
  return { kind: 'jobEnded', jobId, status: 'FAILED', error: 'nothing is left of the job', code: 'job_lost' };
}

async function endOf(store: Pick<Stores, 'data'>, jobId: string, job: EndFacts): Promise<JobEnded | undefined> {
  const status = statusOf(job);
  if (!status) return undefined;
  return {
    kind: 'jobEnded',
    jobId,
    status,
    ...(status === 'SUCCEEDED' && (await resultOf(store, job))),
    ...(job.error_message && { error: job.error_message }),
    ...(job.error_code && { code: job.error_code }),
  };
}

const ends: Partial<Record<JobState, JobEnd>> = {
  SUCCEEDED: 'SUCCEEDED',
  FAILED: 'FAILED',
  TIMEOUT: 'TIMEOUT',
  DENIED: 'DENIED',
  CANCELLED: 'CANCELLED',
  OUTPUT_QUARANTINED: 'OUTPUT_QUARANTINED',
};

function statusOf({ state, error_status }: EndFacts): JobEnd | undefined {
  if (state !== 'FAILED') return ends[state];
  return error_status === 'JOB_STATUS_FAILED_FATAL' ? 'FAILED_FATAL' : 'FAILED';
}

async function resultOf(
  { data }: Pick<Stores, 'data'>,
  job: EndFacts,
): Promise<Pick<JobEnded, 'output' | 'resultPtr'>> {
  const pointer = job.result_ptr;
  if (!pointer) return {};
  if (!pointer.startsWith('redis://')) return { resultPtr: pointer };
  const body = job.body ?? (await readBody(data, pointer));
  if (body === undefined) return { resultPtr: pointer };
  try {
    return { resultPtr: pointer, output: JSON.parse(body) as unknown };
  } catch {
    return { resultPtr: pointer };
  }
}

async function readBody(data: Stores['data'], pointer: string): Promise<string | undefined> {
  const read = await data.read(pointer, inlineBytes);
  if (!read || read.sizeBytes > inlineBytes || read.sizeBytes === 0) return undefined;
  return read.body.toString('utf8');
}

async function hearChild(store: Pick<Stores, 'runs'>, told: ChildRunEnded): Promise<ChildRunEnded> {
  // Refused before it began: the event says it all.
  if (told.error) return told;
  const loaded = await store.runs.load(told.childRunId);
  if (!loaded) {
    return { ...told, status: 'failed', error: { message: 'nothing is left of the child run', code: 'run_lost' } };
  }
  const child = runStateOf(loaded);
  const { input, context, error } = child;
  return {
    ...told,
    input,
    ctx: context,
    steps: stepsOf(child),
    ...(child.output !== undefined && { output: child.output }),
    ...(error && { error }),
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
