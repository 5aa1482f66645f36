import { randomUUID } from 'node:crypto';
import { levels, queuePriorities } from '@svc/routing';
import { keys, type Acceptance, type Admission, type JobRecord } from '@svc/store';
import { eventually } from '@svc/testing';
import { ReadsOfAll } from './reads-of-all';
import { startStageWorker } from './stage';
import { startWorld, type World } from './world';

const jobs = 100_000;
const timers = 10_000;
/** Timers that come due while the services are down. */
const dueDuringRestart = 100;
const dueInMs = 2_000;
const crowd = 'crowd';

/** Fault 39: the services start on a store that holds what the product itself would have written. */
describe('a restart with 100,000 jobs waiting and 10,000 timers', () => {
  let world: World;

  beforeAll(async () => {
    world = await startWorld();
  }, 120_000);
  afterAll(() => world?.stop(), 30_000);

  it('is ready, reads no large key at once, serves a new job immediately, and resumes waiting jobs', async () => {
    const model = await parked('job.later.work', 'jobWaiting');
    const held = await parked('job.chaos.held', 'jobApprovals');
    const services = [...world.services.values()].map(({ process }) => process);
    await Promise.all(services.map((process) => process.stop()));
    const due = await hold(held, dueDuringRestart, dueInMs);
    const later = await hold(held, timers - dueDuringRestart, 3_600_000);
    await wait(model, jobs);

    const reads = await ReadsOfAll.watch(world.redis.url);
    // Resolves when /readyz responds with 200.
    await Promise.all(services.map((process) => process.start()));
    const worker = await startStageWorker(world, 'late', 'later');
    const newcomer = await world.client('admin').submit({ topic: 'job.later.work', key: randomUUID() });

    await ends(newcomer, 'SUCCEEDED');
    expect(await waiting()).toBeGreaterThan(jobs / 2);
    await eventually(async () => expect(await waiting()).toBeLessThan(jobs - 2_000), { withinMs: 60_000 });
    for (const id of due) await ends(id, 'DENIED');
    expect(await count('APPROVAL_REQUIRED')).toBe(later.length);
    expect(await reads.end()).toEqual([]);
    await worker.stop();
  }, 180_000);

  const count = (state: JobRecord['state']) => world.store.redis.zcard(keys.jobsInState(crowd, state));
  const waiting = () => count('PENDING');
  const ends = (id: string, state: JobRecord['state']) =>
    eventually(async () => expect(await world.store.jobs.load(id)).toMatchObject({ state }), { withinMs: 60_000 });

  /** A job processed by the services up to the state that the generated jobs get. */
  async function parked(topic: string, place: JobRecord['parked']): Promise<JobRecord> {
    const id = await world.client('admin').submit({ topic, key: randomUUID() });
    return eventually(async () => {
      const job = await world.store.jobs.load(id);
      if (job?.parked !== place) throw new Error(`${id} is parked in ${job?.parked}`);
      return job;
    });
  }

  async function accept(model: JobRecord, next?: Acceptance['next']): Promise<string> {
    const { topic, request, submitter, job_hash, safety, safety_snapshot } = model;
    const id = randomUUID();
    const outcome = await world.store.jobs.accept({
      id,
      tenant: crowd,
      traceId: id,
      topic,
      fields: {
        request,
        submitter,
        job_hash,
        deadline_ms: 0,
        ...(safety && { safety }),
        ...(safety_snapshot && { safety_snapshot }),
      },
      context: JSON.stringify({ prompt: 'unload berth 7' }),
      priority: queuePriorities[request.priority],
      activeLimit: 0,
      isNew: true,
      ...(next && { next }),
    });
    if (outcome.kind !== 'accepted') throw new Error(`a job was not accepted: ${outcome.kind}`);
    return id;
  }

  /** Jobs held for approval, with a deadline. */
  function hold(model: JobRecord, many: number, forMs: number): Promise<string[]> {
    const { approval } = model;
    if (!approval) throw new Error('the model has no open approval');
    const extras = { set: { approval }, park: { queue: 'jobApprovals', forMs } } as const;
    return Promise.all(Array.from({ length: many }, () => accept(model, { event: 'hold', extras })));
  }

  /** Accepts jobs and puts them into the lane of the model, as the scheduler does when no worker is available. */
  async function wait(model: JobRecord, many: number): Promise<void> {
    const { redis, workers, jobs } = world.store;
    const lane = {
      id: model.lane ?? '',
      spec: (await workers.lanes())[model.lane ?? ''] ?? '',
      level: levels[model.request.priority],
    };
    const admission = {
      lane, dispatchId: '', reason: 'no_workers', runMs: 20_000, deadlineMs: 0, tenantCap: 0, licenseCap: 0,
      waitMs: 600_000, set: {},
    } satisfies Admission; // prettier-ignore
    const ids = await Promise.all(Array.from({ length: many }, () => accept(model)));
    await Promise.all(ids.map((id) => jobs.admit(id, admission)));
    // Each would have had a queue entry on the way to the lane, which the queue drops on completion.
    const entries = await redis.zrange(keys.queue('jobs', 'prioritized'), 0, '-1');
    await redis.unlink(keys.queue('jobs', 'prioritized'), keys.queue('jobs', 'marker'));
    for (let from = 0; from < entries.length; from += 10_000) {
      await redis.unlink(entries.slice(from, from + 10_000).map((entry) => keys.queue('jobs', entry)));
    }
  }
});
