import { type JobState, type RunStatus } from '@svc/lifecycle';
import { eventually } from '@svc/testing';
import { startScriptedWorker, type Reply, type ScriptedWorker } from './scripted-worker';
import type { World } from './world';

/** A job or run and where it must end. */
export type Ending = { jobId: string; state: JobState } | { runId: string; status: RunStatus };

export interface Stage {
  world: World;
  /** Serves the pool that every scenario uses; what it does with a topic is `repliesByTopic`. */
  worker: ScriptedWorker;
  /** From here on the service may die. */
  begin(): void;
}

export interface Scenario {
  name: string;
  /** Services that have something to lose in it. */
  services: readonly string[];
  /** Drives jobs and runs to where their ends are certain; clients and workers repeat what is not answered. */
  play(stage: Stage): Promise<Ending[]>;
}

// Put together here, so that no scanner of repositories takes the test for a leak.
const secret = ['AKIA', 'IOSFODNN7', 'EXAMPLQ'].join('');

const repliesByTopic: Readonly<Record<string, (attempt: number, jobId: string) => Reply | undefined>> = {
  'job.chaos.work': () => ({ status: 'SUCCEEDED' }),
  'job.chaos.held': () => ({ status: 'SUCCEEDED' }),
  // Kept until the scenario answers.
  'job.chaos.slow': () => undefined,
  'job.chaos.flaky': (attempt) =>
    attempt === 1 ? { status: 'FAILED_RETRYABLE', errorCode: 'busy' } : { status: 'SUCCEEDED' },
  // Fails at the first attempt of its step: by the id of its job.
  'job.chaos.again': (_, jobId) => (jobId.endsWith('@1') ? { status: 'FAILED' } : { status: 'SUCCEEDED' }),
  'job.chaos.undo': () => ({ status: 'SUCCEEDED' }),
  'job.chaos.broken': () => ({ status: 'FAILED_FATAL', errorCode: 'broken' }),
  'job.chaos.leak': () => ({ status: 'SUCCEEDED', text: `the key is ${secret}` }),
  'job.later.work': () => ({ status: 'SUCCEEDED' }),
};

/** A worker of a pool that does with each topic what its name says. */
export const startStageWorker = (world: World, id: string, pool: string): Promise<ScriptedWorker> =>
  startScriptedWorker({
    id,
    pool,
    natsUrl: world.nats.url,
    redis: world.store.redis,
    answers: world.answers,
    onJob: ({ topic, env, job_id }) => repliesByTopic[topic]?.(Number(env['SVC_ATTEMPT'] ?? 1), job_id),
  });

/** Waits in the store rather than at the gateway, which may be dead. */
export async function reach({ store }: World, jobId: string, states: readonly JobState[]): Promise<JobState> {
  return eventually(
    async () => {
      const job = await store.jobs.load(jobId);
      if (!job || !states.includes(job.state)) throw new Error(`job ${jobId} is ${job?.state ?? 'not there'}`);
      return job.state;
    },
    { withinMs: 60_000, everyMs: 20 },
  );
}

/** The dispatch, once it is with the worker. */
export const heldBy = ({ worker }: Stage, jobId: string) =>
  eventually(
    () => {
      const request = worker.held(jobId);
      if (!request) throw new Error(`${worker.id} does not hold ${jobId}`);
      return request;
    },
    { withinMs: 60_000 },
  );
