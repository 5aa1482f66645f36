import { jobResultPacket, JobStatus, rawPacket, subjects, wire } from '@svc/contract';
import { publishIntent } from '@svc/jobs';
import { eventually } from '@svc/testing';
import { Writer } from 'protobufjs/minimal';
import { useScheduler } from './use-scheduler.testing';

const use = useScheduler();
const quickRetries = { retry: { initial_backoff: '10ms', max_backoff: '20ms', max_retries: 2 } };

describe('a dispatch', () => {
  it('has its id, attempt, worker and identity, also as environment variables', async () => {
    await use.start({ config: quickRetries });
    const worker = await use.rawWorker({ id: 'w1' });
    const id = await use.submit();
    const first = await worker.dispatched(id);
    await worker.answer(first, 'FAILED_RETRYABLE');

    const second = await worker.dispatched(id, 2);

    const record = await use.until(id, 'RUNNING', { attempts: 2 });
    expect(second.dispatch).toEqual({ dispatch_id: record.dispatch_id, attempt: 2, assigned_worker_id: 'w1' });
    expect(second.env).toMatchObject({ SVC_DISPATCH_ID: record.dispatch_id, SVC_ATTEMPT: '2' });
    expect(second.identity).toMatchObject({ tenant_id: 'acme', principal_id: record.request.principal_id });
    expect(first.dispatch).toMatchObject({ attempt: 1, assigned_worker_id: 'w1' });
    expect(first.dispatch?.dispatch_id).not.toBe(record.dispatch_id);
  });
});

describe('a result on the wire', () => {
  /** A length-delimited field, written without the generated code. */
  const field = (number: number, bytes: Uint8Array) =>
    Writer.create()
      .uint32(number * 8 + 2)
      .bytes(bytes)
      .finish();
  const packetWith = (result: Uint8Array) => {
    const head = jobResultPacket({ trace_id: 't', sender_id: 'w1', nowUs: 1 }, {});
    const envelope = wire.BusPacket.encode({ ...rawPacket(head), job_result: null }).finish();
    return Buffer.concat([envelope, field(11, result)]);
  };
  const core = (job_id: string) =>
    wire.JobResult.encode({ job_id, worker_id: 'w1', status: JobStatus.JOB_STATUS_SUCCEEDED }).finish();

  it.each([
    ['with unknown fields', [field(77, Buffer.from('x')), field(4_711, Buffer.from('y'))]],
    [
      'of a worker that sends its dispatch id in the field that now holds the dispatch',
      [field(10, Buffer.from('0f3c-77')), [0x58, 1]],
    ],
  ])('one %s ends the job', async (_, extra) => {
    const { events } = await use.start();
    const worker = await use.rawWorker({ id: 'w1' });
    const id = await use.submit();
    await worker.dispatched(id);

    await worker.raw(
      subjects.jobResult.name,
      packetWith(Buffer.concat([core(id), ...extra.map((bytes) => Uint8Array.from(bytes))])),
    );

    await use.until(id, 'SUCCEEDED');
    expect(events.map(([name]) => name)).not.toContain('ignoredResult');
    expect(use.bodies('alert', subjects.alert.name)).toEqual([]);
  });
});

describe('progress', () => {
  it('is accepted only for the current dispatch and from the assigned worker', async () => {
    await use.start();
    const worker = await use.rawWorker({ id: 'w1' });
    const id = await use.submit();
    const { dispatch } = await worker.dispatched(id);
    await use.until(id, 'RUNNING');

    worker.progress(id, 10, { dispatch: { ...dispatch, dispatch_id: 'old' } });
    worker.progress(id, 20, { dispatch: { ...dispatch, assigned_worker_id: 'w2' } });
    worker.progress(id, 30, { dispatch });
    await use.until(id, 'RUNNING', { progress_percent: 30 });
    worker.progress(id, 40, { dispatch: { ...dispatch, dispatch_id: 'old' } });
    worker.progress(id, 50, { dispatch });

    await use.until(id, 'RUNNING', { progress_percent: 50 });
    const kept = (await use.store.jobs.load(id))?.progress_percent;
    expect(kept).toBe(50);
  });
});

describe('a cancel', () => {
  it('names the dispatch it cancels', async () => {
    await use.start();
    const worker = await use.rawWorker({ id: 'w1' });
    const id = await use.submit();
    const { dispatch } = await worker.dispatched(id);

    await use.cancel(id);

    expect(await use.published('job_cancel', subjects.jobCancel.name, id)).toMatchObject([{ dispatch }]);
  });

  it('names no dispatch when the job never had one', async () => {
    await use.start();
    const id = await use.submit();
    await use.until(id, 'PENDING', { parked: 'jobWaiting' });

    await use.cancel(id);

    const [cancel] = await use.published('job_cancel', subjects.jobCancel.name, id);
    expect(cancel?.dispatch).toBeUndefined();
  });

  it('published late for a preempted job does not name its next dispatch', async () => {
    const { ctx } = await use.start();
    const published = jest.spyOn(ctx.store.jobs, 'intentDone');
    const worker = await use.rawWorker({ id: 'w1', max: 1 });
    const batch = await use.submit({ priority: 'batch' });
    const first = await worker.dispatched(batch);
    const critical = await use.submit({ priority: 'critical' });
    await use.published('job_cancel', subjects.jobCancel.name, batch);
    await worker.answer(first, 'CANCELLED');
    await worker.answer(await worker.dispatched(critical));
    const second = await worker.dispatched(batch, 2);
    const intent = published.mock.calls.find(([id]) => id === batch)?.[1] ?? '';

    await publishIntent(ctx, { ...(await use.job(batch)), intent });

    const cancels = await use.published('job_cancel', subjects.jobCancel.name, batch, 2);
    expect(cancels.map(({ dispatch }) => dispatch?.dispatch_id)).toEqual(Array(2).fill(first.dispatch?.dispatch_id));
    expect(second.dispatch?.dispatch_id).not.toBe(first.dispatch?.dispatch_id);
    await eventually(async () => expect((await use.job(batch)).state).toBe('RUNNING'));
  });
});
