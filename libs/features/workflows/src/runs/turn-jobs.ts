import type { Placed } from '@svc/store';
import type { Action, Compensate, DispatchJob } from '@svc/workflow';
import { type PlannedRun, prepareJob, type PreparedJob, settleJob } from './accept-job';
import { getRunAgent } from './run-agent';
import type { RunDeps, TurnDeps } from './run-deps';
import { buildCompensation, buildStepJob } from './step-jobs';

/** Bounds the time for which one save blocks Redis. */
export const MAX_TURN_JOBS = 64;
const MAX_BYTES = 512 * 1_024;

type NewJobAction = DispatchJob | Compensate;

const isNewJob = (action: Action): action is NewJobAction =>
  action.kind === 'dispatchJob' || action.kind === 'compensate';

/** A job with limits by key may end others, even of its run, or be answered by another one. */
const hasLimits = (action: Action): boolean => action.kind === 'dispatchJob' && action.limits !== undefined;

/**
 * Prepares the jobs of a turn for the call that saves it, so that nothing remains to be executed after the save. Undefined
 * when the turn does more than start jobs, or when a job needs more than that call: then the actions are executed one by one.
 *
 * @param actions those that remain to be executed after the save
 */
export async function prepareTurnJobs(
  deps: TurnDeps,
  planned: PlannedRun,
  actions: readonly Action[],
): Promise<PreparedJob[] | undefined> {
  // An agent may change while the turn is planned, which only the call that accepts a single job reports.
  if (getRunAgent(planned.run) !== undefined) return undefined;
  if (actions.length > MAX_TURN_JOBS || !actions.every(isNewJob) || actions.some(hasLimits)) return undefined;
  const jobs = await Promise.all(actions.map((action) => prepare(deps, planned, action))).catch(() => undefined);
  // An error is reported when the action is executed.
  if (!jobs) return undefined;
  const bytes = jobs.reduce((sum, job) => sum + job.bytes, 0);
  return bytes <= MAX_BYTES && jobs.every(isPlain) ? jobs : undefined;
}

async function prepare(deps: TurnDeps, planned: PlannedRun, action: NewJobAction): Promise<PreparedJob> {
  const isStep = action.kind === 'dispatchJob';
  const job = isStep ? await buildStepJob(deps, planned, action) : buildCompensation(planned, action);
  return prepareJob(deps, planned, job);
}

/** Whether the save can accept the job: a held or denied one changes state on creation, and a memory may be refused. */
const isPlain = ({ acceptance }: PreparedJob): boolean => !acceptance.next && !acceptance.memory;

/**
 * Runs the save of a turn while admission control reserves capacity for its jobs.
 *
 * @returns undefined when they are not admitted now, and nothing was saved
 */
export async function saveAdmitted<T>(
  { admission }: Pick<RunDeps, 'admission'>,
  jobs: readonly PreparedJob[],
  save: () => Promise<T>,
): Promise<T | undefined> {
  let isAdmitted = false;
  const admitted = async () => {
    isAdmitted = true;
    return save();
  };
  try {
    return await jobs.reduce<() => Promise<T>>(
      (store, { acceptance, bytes }) =>
        () =>
          admission.job(acceptance.tenant, bytes, store),
      admitted,
    )();
  } catch (error) {
    if (isAdmitted) throw error;
    return undefined;
  }
}

/** @param placed positions in the order of the jobs; undefined for a job that existed */
export function settleJobs(
  deps: TurnDeps,
  jobs: readonly PreparedJob[],
  placed: readonly (Placed | undefined)[],
): void {
  for (const [i, job] of jobs.entries()) {
    const position = placed[i];
    if (position) settleJob(deps, job, position);
  }
}
