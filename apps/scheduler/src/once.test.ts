import { jobResultPacket, toJobStatus, type JobRequest } from '@svc/contract';
import { decideJob, expireApproval, handleResult, recheckWaiting, timeOutRunning } from '@svc/dispatch';
import { processors } from './processors';
import { ruled, useScheduler } from './use-scheduler.testing';

const use = useScheduler();
const times = <T>(n: number, act: () => Promise<T>) => Promise.all(Array.from({ length: n }, act));

/** One job running on a raw worker. */
async function running() {
  const scheduler = await use.start();
  const worker = await use.rawWorker({ id: 'w1', max: 5 });
  const id = await use.submit();
  const request = await worker.dispatched(id);
  await use.until(id, 'RUNNING');
  return { ...scheduler, worker, id, request };
}

const buildResult = ({ job_id, dispatch }: JobRequest, status: 'SUCCEEDED' | 'FAILED_RETRYABLE' | 'FAILED_FATAL') =>
  jobResultPacket(
    { trace_id: '', sender_id: 'w1', nowUs: 1 },
    { job_id, worker_id: 'w1', status: toJobStatus(status), dispatch },
  ).body;

describe('every queue processor is idempotent', () => {
  it('and has a test in this file', () => {
    expect(processors.map(({ queue }) => queue.name)).toEqual([
      'jobs',
      'jobs-waiting',
      'jobs-held',
      'jobs-in-flight',
      'output-scan', // tested with the other output checks
    ]);
  });

  it('jobs: concurrent decisions dispatch the job once', async () => {
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

  it('jobs: concurrent decisions hold the job once', async () => {
    const { ctx } = await use.start({ idle: true });
    const id = await use.submit();
    await use.policy(ruled('require_approval'));

    await times(8, () => decideJob(ctx, id));

    expect(await use.path(id)).toEqual(['PENDING', 'APPROVAL_REQUIRED']);
    expect((await use.job(id)).approval).toMatchObject({ revision: 1 });
  });

  it('jobs-waiting: a waiting job is checked again, any other is not changed', async () => {
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

  it('jobs-in-flight: a job times out once, and only after its time limit', async () => {
    const { ctx, later, id } = await running();

    expect(await timeOutRunning(ctx, id)).toBeGreaterThan(800_000);
    await times(5, () => timeOutRunning(later(1_000_000), id));

    expect(await use.path(id)).toEqual(['PENDING', 'DISPATCHED', 'RUNNING', 'TIMEOUT']);
    expect(await use.store.workers.inFlight('w1')).toEqual([]);
  });
});

describe('a result may be delivered more than once', () => {
  it('a success ends the job once', async () => {
    const { ctx, id, request } = await running();

    await times(6, () => handleResult(ctx, 'w1', buildResult(request, 'SUCCEEDED')));

    expect(await use.path(id)).toEqual(['PENDING', 'DISPATCHED', 'RUNNING', 'SUCCEEDED']);
  });

  it('of a concurrent success and failure, one is applied', async () => {
    const { ctx, id, request } = await running();

    await Promise.all([
      handleResult(ctx, 'w1', buildResult(request, 'SUCCEEDED')),
      handleResult(ctx, 'w1', buildResult(request, 'FAILED_FATAL')),
    ]);

    expect(await use.path(id)).toHaveLength(4);
    const { state } = await use.job(id);
    expect(await use.deadLetter(id)).toEqual(state === 'FAILED' ? expect.objectContaining({ job_id: id }) : undefined);
  });

  it('a retryable failure uses one attempt', async () => {
    const { ctx, id, request } = await running();

    await times(6, () => handleResult(ctx, 'w1', buildResult(request, 'FAILED_RETRYABLE')));

    expect(await use.job(id)).toMatchObject({ state: 'RETRYING', retry_count: 1 });
  });
});
