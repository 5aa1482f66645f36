import { randomUUID } from 'node:crypto';
import { isTerminal, type JobState } from '@svc/lifecycle';
import { keys } from '@svc/store';
import { eventually } from '@svc/testing';
import { startScriptedWorker, type Reply, type ScriptedWorker } from './scripted-worker';
import type { World } from './world';

/** A job and where it must end. */
export interface Ending {
  jobId: string;
  state: JobState;
}

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
  /** Drives jobs to where their ends are certain; clients and workers repeat what is not answered. */
  play(stage: Stage): Promise<Ending[]>;
}

// Put together here, so that no scanner of repositories takes the test for a leak.
const secret = ['AKIA', 'IOSFODNN7', 'EXAMPLQ'].join('');

const repliesByTopic: Readonly<Record<string, (attempt: number) => Reply | undefined>> = {
  'job.chaos.work': () => ({ status: 'SUCCEEDED' }),
  'job.chaos.held': () => ({ status: 'SUCCEEDED' }),
  // Kept until the scenario answers.
  'job.chaos.slow': () => undefined,
  'job.chaos.flaky': (attempt) =>
    attempt === 1 ? { status: 'FAILED_RETRYABLE', errorCode: 'busy' } : { status: 'SUCCEEDED' },
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
    onJob: ({ topic, env }) => repliesByTopic[topic]?.(Number(env['SVC_ATTEMPT'] ?? 1)),
  });

const submit = ({ world }: Stage, topic: string) => world.client('admin').submit({ topic, key: randomUUID() });

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
const heldBy = ({ worker }: Stage, jobId: string) =>
  eventually(
    () => {
      const request = worker.held(jobId);
      if (!request) throw new Error(`${worker.id} does not hold ${jobId}`);
      return request;
    },
    { withinMs: 60_000 },
  );

const one = (jobId: string, state: JobState): Ending[] => [{ jobId, state }];

export const scenarios: readonly Scenario[] = [
  {
    name: 'submit',
    services: ['api'],
    async play(stage) {
      stage.begin();
      return one(await submit(stage, 'job.chaos.work'), 'SUCCEEDED');
    },
  },
  {
    name: 'dispatch',
    services: ['scheduler'],
    async play(stage) {
      stage.begin();
      const jobId = await submit(stage, 'job.chaos.slow');
      const request = await heldBy(stage, jobId);
      await reach(stage.world, jobId, ['RUNNING']);
      // It has the job now, however often it was sent.
      await stage.worker.answer(request, { status: 'SUCCEEDED' });
      return one(jobId, 'SUCCEEDED');
    },
  },
  {
    name: 'result',
    services: ['scheduler'],
    async play(stage) {
      const jobId = await submit(stage, 'job.chaos.slow');
      await reach(stage.world, jobId, ['RUNNING']);
      const request = await heldBy(stage, jobId);
      stage.begin();
      await stage.worker.answer(request, { status: 'SUCCEEDED' });
      await stage.worker.answer(request, { status: 'SUCCEEDED' });
      await stage.worker.answer(request, { status: 'SUCCEEDED' }, 'liar');
      return one(jobId, 'SUCCEEDED');
    },
  },
  {
    name: 'retry',
    services: ['scheduler'],
    async play(stage) {
      stage.begin();
      return one(await submit(stage, 'job.chaos.flaky'), 'SUCCEEDED');
    },
  },
  {
    name: 'approve',
    services: ['api', 'scheduler'],
    async play(stage) {
      const { world } = stage;
      const jobId = await submit(stage, 'job.chaos.held');
      stage.begin();
      // Two people at once, and one of them changes his mind.
      const boss = world.client('approver');
      await Promise.all([boss.decide('approve', jobId), boss.decide('approve', jobId)]);
      return one(jobId, 'SUCCEEDED');
    },
  },
  {
    name: 'cancel',
    services: ['api', 'scheduler'],
    async play(stage) {
      const jobId = await submit(stage, 'job.chaos.slow');
      await reach(stage.world, jobId, ['RUNNING']);
      const request = await heldBy(stage, jobId);
      stage.begin();
      await stage.world.client('admin').cancel(jobId);
      // The worker had not heard of it.
      await stage.worker.answer(request, { status: 'SUCCEEDED' });
      return one(jobId, 'CANCELLED');
    },
  },
  {
    name: 'dead-letter-retry',
    services: ['api'],
    async play(stage) {
      const jobId = await submit(stage, 'job.chaos.broken');
      await reach(stage.world, jobId, ['FAILED']);
      stage.begin();
      await stage.world.client('admin').retry(jobId);
      const again = await childOf(stage.world, jobId);
      return [...one(jobId, 'FAILED'), ...one(again, 'FAILED')];
    },
  },
  {
    name: 'quarantine',
    services: ['scheduler'],
    async play(stage) {
      stage.begin();
      return one(await submit(stage, 'job.chaos.leak'), 'OUTPUT_QUARANTINED');
    },
  },
  {
    name: 'reconcile',
    services: ['scheduler'],
    async play(stage) {
      const { world } = stage;
      const jobId = await submit(stage, 'job.later.work');
      await eventually(async () => (await world.store.jobs.load(jobId))?.parked === 'jobWaiting');
      await loseItsPlaces(world, jobId);
      stage.begin();
      const late = await startStageWorker(world, `late-${randomUUID().slice(0, 8)}`, 'later');
      await eventually(async () => isEnded(world, jobId), { withinMs: 60_000 });
      await late.stop();
      return one(jobId, 'SUCCEEDED');
    },
  },
];

async function isEnded({ store }: World, jobId: string): Promise<boolean> {
  const job = await store.jobs.load(jobId);
  return job !== undefined && isTerminal(job.state);
}

/** The job that a retry has made; the answer that named it may have been lost. */
async function childOf({ store }: World, jobId: string): Promise<string> {
  return eventually(async () => {
    const [child] = await store.redis.keys(`${keys.job(jobId)}-retry-*`);
    if (child === undefined) throw new Error(`no retry of ${jobId}`);
    return child.slice(keys.job('').length);
  });
}

/** As after a backup in which the queues were older than the records: the job stands nowhere, and has for a while. */
async function loseItsPlaces({ store: { redis } }: World, jobId: string): Promise<void> {
  const job = keys.job(jobId);
  const fields = await redis.hmget(job, 'lane', 'level', 'tenant');
  const [lane = '', level = '', tenant = ''] = fields.map((field) => field ?? '');
  await redis.zrem(keys.laneJobs(lane, level, tenant), jobId);
  await redis.zrem(keys.laneTurns(lane, level), tenant);
  await redis.hdel(keys.lanes(), lane);
  const delayed = keys.queue('jobs-waiting', 'delayed');
  for (const entry of await redis.zrange(delayed, 0, '-1')) {
    const data = await redis.hget(keys.queue('jobs-waiting', entry), 'data');
    if (!data?.includes(jobId)) continue;
    await redis.zrem(delayed, entry);
    await redis.del(keys.queue('jobs-waiting', entry));
  }
  const longAgoUs = String((Date.now() - 15_000) * 1_000);
  await redis.hset(job, 'updated_at', longAgoUs);
  const state = (await redis.hget(job, 'state')) ?? '';
  await redis.zadd(keys.jobsInState(tenant, state), longAgoUs, jobId);
}
