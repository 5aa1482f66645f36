import { eventually, useServers } from '@svc/testing';
import { createWorker, type Job, type Worker } from './index';
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

async function started(handler: (job: Job) => unknown): Promise<void> {
  const worker = createWorker({
    id: 'w-1',
    concurrency: 2,
    topics: { 'job.demo.echo': handler },
    natsUrl: servers.natsUrl,
    redisUrl: servers.redisUrl,
    signals: [],
    graceMs: 300,
    onError: () => undefined,
  });
  workers.push(worker);
  await worker.start();
}

const dispatch = (attempt: number) => ({ dispatch_id: `d-${attempt}`, attempt, assigned_worker_id: 'w-1' });
const identity = { tenant_id: 'acme', principal_id: 'ada', actor_id: 'bot', delegation_id: '' };

describe('the dispatch of a request', () => {
  it('contains the attempt, and is echoed with the identity in progress and result', async () => {
    const seen: Job[] = [];
    await started((job) => {
      seen.push(job);
      job.progress(50);
    });

    await scheduler.dispatch({ job_id: 'j', env: {}, dispatch: dispatch(4), identity }, { to: 'w-1' });

    expect(await scheduler.results('j')).toMatchObject([{ dispatch: dispatch(4), identity }]);
    expect(scheduler.of('job_progress')).toMatchObject([{ dispatch: dispatch(4), identity }]);
    expect(seen).toMatchObject([{ dispatchId: 'd-4', attempt: 4 }]);
  });

  it('takes precedence over its copy in env', async () => {
    await started(() => undefined);

    const env = { SVC_DISPATCH_ID: 'd-1', SVC_ATTEMPT: '1' };
    await scheduler.dispatch({ job_id: 'j', env, dispatch: dispatch(2) }, { to: 'w-1' });

    expect(await scheduler.results('j')).toMatchObject([{ dispatch: dispatch(2) }]);
  });

  it('is not run when it is assigned to another worker', async () => {
    let runs = 0;
    await started(() => (runs += 1));

    const foreign = { ...dispatch(1), assigned_worker_id: 'w-2' };
    await scheduler.dispatch({ job_id: 'foreign', env: {}, dispatch: foreign }, { to: 'w-1' });
    await scheduler.dispatch({ job_id: 'own', env: {}, dispatch: dispatch(2) }, { to: 'w-1' });

    await scheduler.results('own');
    expect(scheduler.of('alert')).toMatchObject([{ error_code_enum: 202, details: { subject: 'worker.w-1.jobs' } }]);
    expect([runs, scheduler.of('job_result').length]).toEqual([1, 1]);
  });

  it('is absent when the platform sends none', async () => {
    await started(() => undefined);

    await scheduler.dispatch({ job_id: 'j', env: {} }, { to: 'w-1' });

    expect((await scheduler.results('j'))[0]).not.toHaveProperty('dispatch');
  });
});

describe('a cancel with a dispatch id', () => {
  it('stops that dispatch and older ones, never a newer one', async () => {
    const running = new Map<number, AbortSignal>();
    await started(({ attempt, signal }) => {
      running.set(attempt, signal);
      return new Promise((_, reject) => {
        signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
      });
    });
    for (const attempt of [1, 3]) {
      await scheduler.dispatch({ job_id: 'j', env: {}, dispatch: dispatch(attempt) }, { to: 'w-1' });
    }
    await eventually(() => expect([...running.keys()].sort()).toEqual([1, 3]));

    scheduler.cancel('j', 0, dispatch(2));

    expect(await scheduler.results('j')).toMatchObject([{ status: 7, dispatch: dispatch(1) }]);
    expect(running.get(3)?.aborted).toBe(false);
    scheduler.cancel('j', 0, dispatch(3));
    expect(await scheduler.results('j', 2)).toMatchObject([{ status: 7 }, { status: 7, dispatch: dispatch(3) }]);
  });
});
