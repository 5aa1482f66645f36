import { randomUUID } from 'node:crypto';
import { isTerminal, type JobState } from '@svc/lifecycle';
import { keys } from '@svc/store';
import { eventually } from '@svc/testing';
import { runScenarios } from './run-scenarios';
import { heldBy, reach, startStageWorker, type Ending, type Scenario, type Stage } from './stage';
import type { World } from './world';

const submit = ({ world }: Stage, topic: string, agentId?: string) =>
  world.client('admin').submit({ topic, key: randomUUID(), ...(agentId !== undefined && { agentId }) });

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
    services: ['api', 'scheduler'],
    async play(stage) {
      stage.begin();
      const jobId = await submit(stage, 'job.chaos.slow');
      const request = await heldBy(stage, jobId);
      await reach(stage.world, jobId, ['RUNNING']);
      // The worker has the job now, after one or more dispatches.
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
      // Two people at once, one of whom sends both resolutions.
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
      // The worker did not receive the cancel.
      await stage.worker.answer(request, { status: 'SUCCEEDED' });
      return one(jobId, 'CANCELLED');
    },
  },
  {
    name: 'agent-stop',
    services: ['api'],
    async play(stage) {
      const admin = stage.world.client('admin');
      const agent = await admin.registerAgent('chaos');
      const jobId = await submit(stage, 'job.chaos.slow', agent);
      await reach(stage.world, jobId, ['RUNNING']);
      await heldBy(stage, jobId);
      stage.begin();
      await admin.stopAgent(agent, jobId);
      await reach(stage.world, jobId, ['CANCELLED']);
      const late = await admin.ask('GET', `/api/v1/agents/${agent}`);
      if (late.status === 200 && late.body['status'] !== 'suspended') throw new Error('the agent is not suspended');
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
      const again = await findRetry(stage.world, jobId);
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
    name: 'drain',
    services: ['api'],
    async play(stage) {
      const admin = stage.world.client('admin');
      const before = await submit(stage, 'job.chaos.slow');
      const request = await heldBy(stage, before);
      await reach(stage.world, before, ['RUNNING']);
      stage.begin();
      await admin.drainPool('chaos');
      const waiting = await submit(stage, 'job.chaos.work');
      await stage.worker.answer(request, { status: 'SUCCEEDED' });
      await reach(stage.world, before, ['SUCCEEDED']);
      await reach(stage.world, waiting, ['PENDING']);
      await admin.activatePool('chaos');
      return [...one(before, 'SUCCEEDED'), ...one(waiting, 'SUCCEEDED')];
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
  ...runScenarios,
];

async function isEnded({ store }: World, jobId: string): Promise<boolean> {
  const job = await store.jobs.load(jobId);
  return job !== undefined && isTerminal(job.state);
}

/** The job created by a retry; read from the store, since the response may have been lost. */
async function findRetry({ store }: World, jobId: string): Promise<string> {
  return eventually(async () => {
    const [child] = await store.redis.keys(`${keys.job(jobId)}-retry-*`);
    if (child === undefined) throw new Error(`no retry of ${jobId}`);
    return child.slice(keys.job('').length);
  });
}

/** As after a restore with queues older than the records: the job has had no queue entry for a while. */
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
