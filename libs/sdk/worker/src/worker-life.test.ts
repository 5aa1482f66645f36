import { eventually, useServers } from '@svc/testing';
import type { NatsConnection } from 'nats';
import { createWorker, type Job, type Worker, type WorkerOptions } from './index';
import { openScheduler } from './scheduler.fixture';

const servers = useServers();
const workers: Worker[] = [];
let scheduler: Awaited<ReturnType<typeof openScheduler>>;

beforeEach(async () => {
  scheduler = await openScheduler(servers.natsUrl, servers.redisUrl, eventually);
});

afterEach(async () => {
  await Promise.all(workers.splice(0).map((worker) => worker.stop()));
  await scheduler.close();
});

function created(handler: (job: Job) => unknown, more: Partial<WorkerOptions> = {}): Worker {
  const worker = createWorker({
    id: 'w-1',
    topics: { 'job.demo.echo': handler },
    natsUrl: servers.natsUrl,
    redisUrl: servers.redisUrl,
    nats: { reconnectTimeWait: 50 },
    signals: [],
    graceMs: 300,
    onError: () => undefined,
    ...more,
  });
  workers.push(worker);
  return worker;
}

function signalled() {
  let resolve: () => void = () => undefined;
  const promise = new Promise<void>((settle) => (resolve = settle));
  return { promise, resolve };
}

describe('stopping a worker', () => {
  it('announces draining, finishes running jobs, and rejects new ones', async () => {
    const begun = signalled();
    const door = signalled();
    const worker = created(() => (begun.resolve(), door.promise.then(() => 'done')), {
      graceMs: 10_000,
      concurrency: 2,
    });
    await worker.start();
    await scheduler.dispatch({ job_id: 'running' }, { to: 'w-1' });
    await begun.promise;

    const stopped = worker.stop();
    await eventually(() =>
      expect(scheduler.of('handshake').at(-1)).toMatchObject({
        ready_topics: [],
        capabilities: { 'x-draining': true },
      }),
    );
    await scheduler.dispatch({ job_id: 'too-late' }, { to: 'w-1' });
    const [refused] = await scheduler.results('too-late');
    door.resolve();
    await stopped;

    expect(refused).toMatchObject({ status: 10, error_code: 'worker_unavailable', dispatch: { dispatch_id: 'd-1' } });
    expect((await scheduler.results('running'))[0]).toMatchObject({ status: 5 });
  });

  it('jobs that exceed the grace period are aborted, and end FAILED_RETRYABLE', async () => {
    const begun = signalled();
    const worker = created(() => (begun.resolve(), new Promise(() => undefined)));
    await worker.start();
    await scheduler.dispatch({ job_id: 'j' }, { to: 'w-1' });
    await begun.promise;

    await worker.stop();

    expect((await scheduler.results('j'))[0]).toMatchObject({
      status: 10,
      error_code: 'worker_shutdown',
      error_code_enum: 206,
    });
  });

  it('a worker that waits for an unavailable platform can be stopped', async () => {
    await scheduler.manager.streams.delete('SVC_JOBS');
    const worker = created(() => 'x');
    const started = worker.start();

    await eventually(() => expect(worker.stop()).resolves.toBeUndefined());
    await started;

    expect(scheduler.of('handshake').flatMap(({ ready_topics }) => ready_topics)).toEqual([]);
  });
});

describe('a worker that crashes', () => {
  it('its message is redelivered to the next worker with its id', async () => {
    const doomed = created(() => new Promise(() => undefined), { ackWaitMs: 600 });
    await doomed.start();
    await scheduler.dispatch({ job_id: 'j' }, { to: 'w-1' });
    await eventually(async () => {
      const { num_ack_pending } = await scheduler.manager.consumers.info('SVC_JOBS', 'dur_w-1__worker_w-1_jobs');
      return num_ack_pending === 1;
    });
    // Its connection is closed, so nothing is acknowledged or renewed.
    await cut(doomed);

    await created(() => 'second', { ackWaitMs: 600 }).start();

    expect((await scheduler.results('j'))[0]).toMatchObject({ status: 5 });
    expect(await scheduler.redis.get('res:j')).toBe('"second"');
  });

  it('a dispatch over the delivery limit fails without a run', async () => {
    let ran = 0;
    await created(() => ((ran += 1), 'x'), { maxDeliveries: 0 }).start();

    await scheduler.dispatch({ job_id: 'poison' }, { to: 'w-1' });

    expect((await scheduler.results('poison'))[0]).toMatchObject({ status: 11, error_code: 'deliveries_exhausted' });
    expect(ran).toBe(0);
  });
});

describe('the bus', () => {
  it('a long job is renewed and delivered once', async () => {
    let ran = 0;
    await created(() => ((ran += 1), new Promise((resume) => setTimeout(resume, 5_000))), {
      // If the process stalled for two thirds of the wait, the server would rightly redeliver.
      ackWaitMs: 2_000,
      concurrency: 2,
    }).start();

    await scheduler.dispatch({ job_id: 'j' }, { to: 'w-1' });

    await scheduler.results('j');
    const { delivered } = await scheduler.manager.consumers.info('SVC_JOBS', 'dur_w-1__worker_w-1_jobs');
    expect([ran, delivered.consumer_seq]).toEqual([1, 1]);
  });

  it('after a server restart the worker announces itself again, and its result arrives', async () => {
    const begun = signalled();
    const door = signalled();
    await created(() => (begun.resolve(), door.promise)).start();
    await scheduler.dispatch({ job_id: 'j' }, { to: 'w-1' });
    await begun.promise;

    await servers.nats.kill();
    door.resolve();
    await servers.nats.start();

    await eventually(() => expect(scheduler.of('handshake').length).toBeGreaterThan(1), { withinMs: 20_000 });
    await eventually(
      async () => {
        const { messages } = (await scheduler.manager.streams.info('SVC_SYS')).state;
        return messages === 1;
      },
      { withinMs: 20_000 },
    );
    await scheduler.dispatch({ job_id: 'next' }, { to: 'w-1' });
    await eventually(() => expect(scheduler.of('job_result').map(({ job_id }) => job_id)).toContain('next'), {
      withinMs: 20_000,
    });
  }, 60_000);

  it('a shared job stops without a result when its message may be with another worker', async () => {
    const reasons: unknown[] = [];
    const begun = signalled();
    const listen = (job: Job) => {
      begun.resolve();
      return new Promise((_, reject) =>
        job.signal.addEventListener('abort', () => (reasons.push(job.signal.reason), reject(new Error('stopped')))),
      );
    };
    await created(listen, { ackWaitMs: 600 }).start();
    await scheduler.dispatch({ job_id: 'j' });
    await begun.promise;

    await servers.nats.kill();
    await eventually(() => expect(reasons).toMatchObject([{ abortedBy: 'lease_lost' }]));
    await servers.nats.start();

    await eventually(() => expect(scheduler.of('handshake').length).toBeGreaterThan(1), { withinMs: 20_000 });
    expect(scheduler.of('job_result')).toEqual([]);
  }, 60_000);

  it('without JetStream jobs arrive on core NATS, and a full worker rejects them', async () => {
    const door = signalled();
    await created(() => door.promise, { jetstream: false }).start();

    await scheduler.dispatch({ job_id: 'first' }, { to: 'w-1' });
    await scheduler.dispatch({ job_id: 'second' }, { to: 'w-1' });
    const [refused] = await scheduler.results('second');
    door.resolve();

    expect(refused).toMatchObject({ status: 10, error_code_enum: 201 });
    expect((await scheduler.results('first'))[0]).toMatchObject({ status: 5 });
  });
});

/** Closes a worker's connection on the server, found by its name. */
async function cut(worker: Worker): Promise<void> {
  const { connecting } = worker as unknown as { connecting: Promise<{ link: { connection: NatsConnection } }> };
  const { link } = await connecting;
  await link.connection.close();
}
