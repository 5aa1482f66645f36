import { jobResultPacket, jobStatusOf, type JobRequest } from '@svc/contract';
import { decideJob, expireApproval, handleResult, recheckWaiting, timeOutRunning } from '@svc/dispatch';
import { processors } from './processors';
import { ruled, useScheduler } from './use-scheduler.testing';

const use = useScheduler();
const times = <T>(n: number, act: () => Promise<T>) => Promise.all(Array.from({ length: n }, act));

/** One job with a raw worker, given out by a scheduler that then stands still. */
async function running() {
  const scheduler = await use.start();
  const worker = await use.rawWorker({ id: 'w1', max: 5 });
  const id = await use.submit();
  const request = await worker.dispatched(id);
  await use.until(id, 'RUNNING');
  return { ...scheduler, worker, id, request };
}

const resultOf = ({ job_id, dispatch }: JobRequest, status: 'SUCCEEDED' | 'FAILED_RETRYABLE' | 'FAILED_FATAL') =>
  jobResultPacket(
    { trace_id: '', sender_id: 'w1', nowUs: 1 },
    { job_id, worker_id: 'w1', status: jobStatusOf(status), dispatch },
  ).body;

describe('what the queues run may be run again, at once or later', () => {
  it('there is a test here for each of them', () => {
    expect(processors.map(({ queue }) => queue.name)).toEqual([
      'jobs',
      'jobs-waiting',
      'jobs-held',
      'jobs-in-flight',
      'output-scan', // its test stands with the other output checks
    ]);
  });

  it('jobs: of many decisions at once, one gives the job out', async () => {
    await use.start({ idle: true });
    const id = await use.submit();
    const { ctx } = await use.start();
    const worker = await use.rawWorker({ id: 'w1', max: 50 });
    await worker.dispatched(id);

    await times(8, () => decideJob(ctx, id));
    await worker.answer(await worker.dispatched(id));
    await use.until(id, 'SUCCEEDED');
    await times(2, () => decideJob(ctx, id));

    expect(worker.order()).toEqual([id]);
    expect(await use.path(id)).toEqual(['PENDING', 'DISPATCHED', 'RUNNING', 'SUCCEEDED']);
  });

  it('jobs: of many decisions at once that hold a job, one does', async () => {
    const { ctx } = await use.start({ idle: true });
    const id = await use.submit();
    await use.policy(ruled('require_approval'));

    await times(8, () => decideJob(ctx, id));

    expect(await use.path(id)).toEqual(['PENDING', 'APPROVAL_REQUIRED']);
    expect((await use.job(id)).approval).toMatchObject({ revision: 1 });
  });

  it('jobs-waiting: a job that waits is looked at once more, and one that does not is left alone', async () => {
    const { ctx } = await use.start({ withoutLoops: true });
    const id = await use.submit();
    await use.until(id, 'PENDING', { waiting_reason: 'no_workers' });

    await times(4, () => recheckWaiting(ctx, id));
    await use.until(id, 'PENDING', { parked: 'jobWaiting' });
    const worker = await use.rawWorker({ id: 'w1' });
    await worker.dispatched(id);
    await times(2, () => recheckWaiting(ctx, id));

    expect(worker.order()).toEqual([id]);
  });

  it('jobs-held: a job expires once', async () => {
    const { ctx } = await use.start({ policy: ruled('require_approval'), idle: true });
    const id = await use.submit();

    await times(5, () => expireApproval(ctx, id));

    expect(await use.path(id)).toEqual(['PENDING', 'APPROVAL_REQUIRED', 'DENIED']);
    expect((await use.job(id)).approval).toMatchObject({ revision: 2 });
  });

  it('jobs-in-flight: a job whose time is out ends once, and one whose time is not goes on', async () => {
    const { ctx, later, id } = await running();

    expect(await timeOutRunning(ctx, id)).toBeGreaterThan(800_000);
    await times(5, () => timeOutRunning(later(1_000_000), id));

    expect(await use.path(id)).toEqual(['PENDING', 'DISPATCHED', 'RUNNING', 'TIMEOUT']);
    expect(await use.store.workers.inFlight('w1')).toEqual([]);
  });
});

describe('a result may be heard again, at once or later', () => {
  it('a success ends the job once', async () => {
    const { ctx, id, request } = await running();

    await times(6, () => handleResult(ctx, 'w1', resultOf(request, 'SUCCEEDED')));

    expect(await use.path(id)).toEqual(['PENDING', 'DISPATCHED', 'RUNNING', 'SUCCEEDED']);
  });

  it('of a success and a failure at once, one counts', async () => {
    const { ctx, id, request } = await running();

    await Promise.all([
      handleResult(ctx, 'w1', resultOf(request, 'SUCCEEDED')),
      handleResult(ctx, 'w1', resultOf(request, 'FAILED_FATAL')),
    ]);

    expect(await use.path(id)).toHaveLength(4);
    const { state } = await use.job(id);
    expect(await use.deadLetter(id)).toEqual(state === 'FAILED' ? expect.objectContaining({ job_id: id }) : undefined);
  });

  it('a failure to be retried costs one try', async () => {
    const { ctx, id, request } = await running();

    await times(6, () => handleResult(ctx, 'w1', resultOf(request, 'FAILED_RETRYABLE')));

    expect(await use.job(id)).toMatchObject({ state: 'RETRYING', retry_count: 1 });
  });
});
