import { eventually } from '@svc/testing';
import { isTerminal } from '@svc/lifecycle';
import { queues } from '@svc/queues.config';
import { randomUUID } from 'node:crypto';
import { readdirSync, readFileSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Supervised } from '../stack/supervised';
import { startWorkerProcesses } from './chaos-workers';
import { cutDetour, type CutProxy } from './cut-proxy';
import type { Outage } from './history';
import { violations } from './invariants';
import { readHistory, readJobs, readLeft } from './read-history';
import { startStageWorker } from './stage';
import { timersFired } from './timer-invariants';
import { putWorkflows } from './workflows';
import { trackOutage, startWorld, type World } from './world';

/** Single faults on real processes under load; docs/fault-table.md refers to these tests by name. */
describe('a single fault', () => {
  let world: World;
  let workers: Supervised[];
  const ways: CutProxy[] = [];
  const ends: string[] = [];
  const outages: Outage[] = [];

  beforeAll(async () => {
    world = await startWorld({
      detour: cutDetour(ways),
      onLine: (service, line) => line.startsWith('ended (') && ends.push(`${service} ${line}`),
    });
    workers = await startWorkerProcesses(['chaos-1', 'chaos-2'], { nats: world.nats.url, redis: world.redis.url });
    await eventually(async () => (await world.store.workers.snapshot())?.workers.length === 2, { withinMs: 20_000 });
  }, 120_000);
  afterAll(async () => {
    await Promise.all(workers.map((worker) => worker.stop(2_000, 'SIGKILL')));
    await world.stop();
  }, 60_000);

  /** Submits jobs at a steady rate while an action runs. */
  async function underLoad(fault: () => Promise<unknown>, topic = 'job.chaos.work'): Promise<string[]> {
    const asked: Promise<string>[] = [];
    const timer = setInterval(() => asked.push(submit(topic)), 30);
    await sleep(300);
    await fault();
    await sleep(300);
    clearInterval(timer);
    return Promise.all(asked);
  }
  const submit = (topic: string) => world.client('admin').submit({ topic, key: randomUUID() });

  async function ended(withinMs = 60_000): Promise<void> {
    await eventually(
      async () => expect(Object.values(await readLeft(world.store, 0)).reduce((a, b) => a + b)).toBe(0),
      { withinMs, everyMs: 100 },
    );
    expect(violations(await readHistory(world, outages))).toEqual([]);
  }
  /** Jobs in another final state, with details. */
  async function notSucceeded(ids: string[]) {
    const { jobs } = world.store;
    const read = await Promise.all(ids.map(async (id) => ({ id, record: await jobs.load(id) })));
    const others = read.filter(({ record }) => record?.state !== 'SUCCEEDED');
    return Promise.all(others.map(async (other) => ({ ...other, history: await jobs.events(other.id) })));
  }

  it.each(['api', 'scheduler', 'engine'])(
    'on SIGTERM under load, the %s exits with 0',
    async (name) => {
      ends.length = 0;

      const ids = await underLoad(() => world.service(name).process.kill('SIGTERM'));

      await ended();
      expect(ends).toEqual([`${name} ended (exit code 0); starting it again`]);
      expect(await notSucceeded(ids)).toEqual([]);
    },
    90_000,
  );

  it('drains under load: no job is lost, executed twice or dispatched to a draining pool, also when services die', async () => {
    const admin = world.client('admin');
    const drained: { fromUs: number; toUs: number }[] = [];
    const ids = await underLoad(async () => {
      for (const victim of [undefined, 'scheduler', 'api', undefined]) {
        await admin.drainPool('chaos');
        // Rounded up, since a dispatch may precede the drain in the same millisecond.
        const fromUs = (Date.now() + 1) * 1_000;
        if (victim !== undefined) await world.service(victim).process.kill('SIGKILL');
        await sleep(400);
        drained.push({ fromUs, toUs: Date.now() * 1_000 });
        await admin.activatePool('chaos');
        await sleep(200);
      }
    });
    await ended();
    expect(await notSucceeded(ids)).toEqual([]);
    for (const id of ids) {
      const { attempts, retry_count } = (await world.store.jobs.load(id)) ?? {};
      expect({ id, attempts, retry_count }).toEqual({ id, attempts: 1, retry_count: 0 });
      const dispatches = (await world.store.jobs.events(id)).filter(({ event }) => event === 'dispatch');
      const inDrain = dispatches.filter(({ at }) => drained.some(({ fromUs, toUs }) => at > fromUs && at < toUs));
      expect({ id, inDrain }).toEqual({ id, inDrain: [] });
    }

    // The scheduler that checks drains dies: another process ends this one.
    await admin.drainPool('chaos');
    await world.service('scheduler').process.kill('SIGKILL');
    await eventually(async () => expect(await admin.poolStatus('chaos')).toBe('inactive'), {
      withinMs: 60_000,
      everyMs: 200,
    });
    await admin.activatePool('chaos');
    const last = await submit('job.chaos.work');
    await ended();
    expect(await notSucceeded([last])).toEqual([]);
  }, 150_000);

  it('after a crash of Redis every queue worker reconnects, and no job is lost', async () => {
    const { redis } = world.store;
    const waiting = async () => ((await redis.client('LIST')) as string).match(/cmd=bzpopmin/g)?.length ?? 0;
    const consumed = Object.values(queues).filter(({ consumer }) => consumer && world.services.has(consumer)).length;
    await eventually(async () => expect(await waiting()).toBe(consumed));

    const ids = await underLoad(async () => {
      await world.redis.kill('SIGKILL');
      await world.redis.start();
    });

    await ended();
    expect(await notSucceeded(ids)).toEqual([]);
    await eventually(async () => expect(await waiting()).toBe(consumed), { withinMs: 20_000 });
  }, 90_000);

  it('repeatedly closed connections cause delays only', async () => {
    const ids = await underLoad(async () => {
      for (let i = 0; i < 5; i++) {
        for (const way of ways) way.cut();
        await sleep(600);
      }
    });

    await ended();
    expect(await notSucceeded(ids)).toEqual([]);
  }, 90_000);

  it('while Redis hangs, requests fail in time and /readyz names it; processing resumes afterwards', async () => {
    const api = world.client('admin');
    process.kill(world.redis.pid, 'SIGSTOP');
    const answered = await Promise.all(Array.from({ length: 10 }, () => api.ask('GET', '/api/v1/jobs')));
    const ready = await eventually(async () => {
      const { status, body } = await api.ask('GET', '/readyz');
      expect(status).toBe(503);
      return body;
    });
    process.kill(world.redis.pid, 'SIGCONT');

    // Rejected by the limiter or the store within the client timeout of five seconds; never a 500.
    for (const { status } of answered) expect([429, 503]).toContain(status);
    expect(JSON.stringify(ready)).toContain('redis');
    const id = await submit('job.chaos.work');
    await ended();
    expect(await notSucceeded([id])).toEqual([]);
  }, 90_000);

  it('after a clock jump and a crash of the engine, timers fire once, never early, and promptly', async () => {
    const { process, clock } = world.service('engine');
    await putWorkflows(world);
    const start = () => world.client('admin').startRun('chaos-timer', randomUUID());
    const runs: string[] = [];

    for (const aheadMs of [90_000, -300_000, 3_600_000, -3_600_000]) {
      runs.push(await start(), await start());
      clock.set(aheadMs);
      await sleep(500);
    }
    // Without outages.
    await ended();
    clock.set(3_600_000);
    runs.push(await start(), await start());
    const killedMs = Date.now();
    await process.kill('SIGKILL');
    clock.set(0);
    outages.push(trackOutage(process, killedMs));

    await ended();
    const fired = timersFired(await readHistory(world, outages)).filter(({ path }) => path === 'dry');
    expect(fired.map(({ runId }) => runId).sort()).toEqual(runs.sort());
  }, 120_000);

  it('while NATS is unreachable jobs are accepted, and no worker is declared lost', async () => {
    let whileAway: number[] = [];
    const ids = await underLoad(async () => {
      await world.nats.kill('SIGKILL');
      const from = world.calls.length;
      for (let i = 0; i < 20; i++) await submit('job.chaos.work');
      whileAway = world.calls.slice(from).map(({ status }) => status);
      // Longer than the heartbeat TTL while the bus is available.
      await sleep(6_000);
      await world.nats.start();
    });

    expect(new Set(whileAway)).toEqual(new Set([200]));
    await ended();
    expect(await notSucceeded(ids)).toEqual([]);
    for (const id of ids) expect(await world.store.jobs.load(id)).toMatchObject({ retry_count: 0 });
  }, 90_000);

  it('duplicated NATS messages have no effect', async () => {
    for (const { weather } of ways) weather.isDoubling = true;
    const ids = await underLoad(() => sleep(1_500));
    await ended();
    for (const { weather } of ways) weather.isDoubling = false;

    expect(await notSucceeded(ids)).toEqual([]);
  }, 90_000);

  it('a job that crashes its workers ends with a dead letter, and other jobs complete', async () => {
    const poison = await submit('job.chaos.poison');
    const others = await underLoad(() => sleep(1_000));

    await eventually(async () => expect((await world.store.jobs.load(poison))?.state).toMatch(/FAILED|TIMEOUT/), {
      withinMs: 80_000,
    });
    await ended();
    expect(await notSucceeded(others)).toEqual([]);
    expect(await world.store.deadLetters.get('*', poison)).toMatchObject({ job_id: poison });
  }, 150_000);

  it('50 concurrent submissions with one key create one job, also when the gateway crashes', async () => {
    const key = randomUUID();
    const client = world.client('admin');
    const asked = Array.from({ length: 50 }, () => client.submit({ topic: 'job.chaos.work', key }));
    await world.service('api').process.kill('SIGKILL');

    expect(new Set(await Promise.all(asked)).size).toBe(1);
    await ended();
  }, 90_000);

  it('power loss: after a truncated append-only file, the remaining jobs are complete and continue', async () => {
    const ids: string[] = [];
    for (let i = 0; i < 60; i++) ids.push(await submit('job.later.work'));
    await eventually(async () => {
      for (const id of ids) expect((await world.store.jobs.load(id))?.parked).toBe('jobWaiting');
    });
    const [, dir = ''] = (await world.store.redis.config('GET', 'dir')) as string[];

    await world.redis.kill('SIGKILL');
    const log = join(dir, 'appendonlydir', newest(join(dir, 'appendonlydir')));
    // Cut within a submission.
    truncateSync(log, readFileSync(log).indexOf(ids[50] ?? '') + 10);
    await world.redis.start();
    await eventually(async () => (await world.store.redis.ping()) === 'PONG');
    const kept = new Set((await readJobs(world.store)).keys());
    const late = await startStageWorker(world, 'late', 'later');

    // Only the newest jobs are lost; the remaining ones continue.
    const missing = ids.filter((id) => !kept.has(id));
    expect([missing.length > 0, missing.length < ids.length]).toEqual([true, true]);
    expect(missing).toEqual(ids.slice(ids.length - missing.length));
    await eventually(
      async () => {
        const jobs = await readJobs(world.store);
        for (const id of kept) expect([id, isTerminal(jobs.get(id)?.record?.state ?? 'PENDING')]).toEqual([id, true]);
      },
      { withinMs: 60_000, everyMs: 200 },
    );
    await late.stop();
  }, 150_000);
});

const newest = (dir: string): string => {
  const [file = ''] = readdirSync(dir)
    .filter((name) => name.endsWith('.incr.aof'))
    .sort()
    .reverse();
  return file;
};
