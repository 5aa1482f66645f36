import { handleResult } from '@svc/dispatch';
import { inlineDataLabel, type JobRequest, type JobResultDraft, jobResultPacket, toJobStatus } from '@svc/contract';
import { eventually } from '@svc/testing';
import type { Scheduler } from './scheduler.testing';
import { useScheduler } from './use-scheduler.testing';

const use = useScheduler();
const env = { resultTicketKeys: ['K4-result-ticket-key-of-these-tests-8sQ1'] };
const labels = { [inlineDataLabel]: 'true' };
const quickRetries = { retry: { initial_backoff: '10ms', max_backoff: '20ms', max_retries: 2 } };
const body = Buffer.from('{"answer":42}');
const stored = async (id: string) => (await use.store.data.result(id))?.toString();
const ignored = ({ events }: Pick<Scheduler, 'events'>, id: string) =>
  eventually(() => expect(events.filter(([name, job]) => name === 'ignoredResult' && job === id)).not.toEqual([]));

/** A scheduler that has not dispatched the jobs of these tests, and a gateway that dispatches them. */
async function started(config = {}) {
  const scheduler = await use.start({ env, config });
  const worker = await use.rawWorker({ id: 'w1', max: 5, labels });
  const gateway = await use.gateway();
  await gateway.knows('w1');
  const loads = jest.spyOn(scheduler.ctx.store.jobs, 'load');
  const dispatched = async () => worker.dispatched(await use.place(gateway.placement));
  /** Reads of this record by the handling of results. */
  const reads = (id: string) => loads.mock.calls.filter(([loaded]) => loaded === id).length;
  return { scheduler, worker, gateway, dispatched, reads };
}

const changed = (ticket: Uint8Array, at: number) => {
  const bytes = Buffer.from(ticket);
  bytes[at] = (bytes[at] ?? 0) ^ 1;
  return bytes;
};

describe('a ticket', () => {
  it('replaces the read of the record', async () => {
    const { worker, dispatched, reads } = await started();
    const request = await dispatched();
    const { job_id: id } = request;

    await worker.answer(request, 'SUCCEEDED', { inline_result: body, result_ticket: request.result_ticket });

    const job = await use.until(id, 'SUCCEEDED', { attempts: 1, worker_id: 'w1', result_ptr: `redis://res:${id}` });
    expect(reads(id)).toBe(0);
    expect(await stored(id)).toBe(String(body));
    expect(job.started_at).toBeGreaterThan(0);
  });

  const useless: [string, (own: Uint8Array, other: Uint8Array) => Uint8Array][] = [
    ['missing', () => new Uint8Array()],
    ['truncated', (own) => own.subarray(0, -1)],
    ['tampered', (own) => changed(own, own.length - 20)],
    ['of another job', (_, other) => other],
    ['too large', (own) => Buffer.concat([own, Buffer.alloc(16_384)])],
  ];
  it.each(useless)('that is %s is replaced by a read of the record', async (what, make) => {
    const { scheduler, worker, dispatched, reads } = await started();
    const [request, other] = [await dispatched(), await dispatched()];
    const { job_id: id } = request;

    const result_ticket = make(request.result_ticket, other.result_ticket);
    await worker.answer(request, 'SUCCEEDED', { inline_result: body, result_ticket });

    await use.until(id, 'SUCCEEDED');
    expect(reads(id)).toBe(1);
    expect(await stored(id)).toBe(String(body));
    const unopened = scheduler.events.filter(([name]) => name === 'unopenedTicket');
    expect(unopened).toEqual(what === 'missing' ? [] : [['unopenedTicket', id, 'w1']]);
  });

  it('sealed with a key that the scheduler does not have is replaced by a read of the record', async () => {
    const { scheduler, worker, dispatched, reads } = await started();
    const request = await dispatched();
    const { job_id: id } = request;
    Object.assign(scheduler.ctx, { tickets: undefined });

    await worker.answer(request, 'SUCCEEDED', { inline_result: body, result_ticket: request.result_ticket });

    await use.until(id, 'SUCCEEDED');
    expect(reads(id)).toBe(1);
  });

  it('gives another worker no rights', async () => {
    const { scheduler, worker, dispatched } = await started();
    const thief = await use.rawWorker({ id: 'w2', max: 5, pool: 'other', labels });
    const request = await dispatched();
    const { job_id: id, result_ticket } = request;

    await thief.answer(request, 'SUCCEEDED', { inline_result: Buffer.from('"forged"'), result_ticket });
    await thief.answer(request, 'SUCCEEDED', {
      worker_id: 'w1',
      inline_result: Buffer.from('"forged"'),
      result_ticket,
    });

    await eventually(() => expect(scheduler.events.filter(([name]) => name === 'ignoredResult')).toHaveLength(2));
    expect(await stored(id)).toBeUndefined();
    await worker.answer(request, 'SUCCEEDED', { inline_result: body, result_ticket });
    await use.until(id, 'SUCCEEDED');
    expect(await stored(id)).toBe(String(body));
  });

  it('of an earlier attempt ends nothing, and its body overwrites nothing', async () => {
    const { scheduler, worker, dispatched } = await started(quickRetries);
    const first = await dispatched();
    const { job_id: id } = first;
    await worker.answer(first, 'FAILED_RETRYABLE');
    const second = await worker.dispatched(id, 2);
    const late = { inline_result: Buffer.from('"late"'), result_ticket: first.result_ticket };

    await worker.answer(first, 'SUCCEEDED', late);
    await ignored(scheduler, id);
    await use.until(id, 'RUNNING', { attempts: 2 });
    expect(await stored(id)).toBeUndefined();
    // With the dispatch of the second attempt and the ticket of the first.
    await worker.answer(second, 'SUCCEEDED', { inline_result: body, result_ticket: first.result_ticket });

    await use.until(id, 'SUCCEEDED', { attempts: 2 });
    await worker.answer(first, 'SUCCEEDED', late);
    await eventually(() => expect(scheduler.events.filter(([name]) => name === 'ignoredResult')).toHaveLength(2));
    expect(await stored(id)).toBe(String(body));
  });

  it('ends no job that was cancelled', async () => {
    const { scheduler, worker, dispatched } = await started();
    const request = await dispatched();
    const { job_id: id, result_ticket } = request;
    await use.cancel(id);

    await worker.answer(request, 'SUCCEEDED', { inline_result: body, result_ticket });

    await ignored(scheduler, id);
    expect([(await use.job(id)).state, await stored(id)]).toEqual(['CANCELLED', undefined]);
  });

  it('lets a failure be retried with the limits of the job', async () => {
    const { worker, dispatched, reads } = await started(quickRetries);
    const first = await dispatched();

    await worker.answer(first, 'FAILED_RETRYABLE', { result_ticket: first.result_ticket });
    const second = await worker.dispatched(first.job_id, 2);
    const readsBefore = reads(first.job_id);
    await worker.answer(second, 'SUCCEEDED', { inline_result: body, result_ticket: second.result_ticket });

    const job = await use.until(first.job_id, 'SUCCEEDED', { attempts: 2, retry_count: 1 });
    expect([job.error_message, job.waiting_reason]).toEqual([undefined, undefined]);
    expect(reads(first.job_id)).toBe(readsBefore);
  });
});

describe('a result with its body that is delivered again', () => {
  const buildResult = (request: JobRequest, over: JobResultDraft = {}) => {
    const head = { trace_id: '', sender_id: 'w1', nowUs: Date.now() * 1_000 };
    const { job_id, dispatch, result_ticket } = request;
    const status = toJobStatus('SUCCEEDED');
    const draft = { job_id, worker_id: 'w1', status, dispatch, inline_result: body, result_ticket, ...over };
    return jobResultPacket(head, draft).body;
  };

  it('ends its job once', async () => {
    const { scheduler, dispatched } = await started();
    const request = await dispatched();
    const { job_id: id } = request;

    await Promise.all(Array.from({ length: 6 }, () => handleResult(scheduler.ctx, 'w1', buildResult(request))));
    await handleResult(scheduler.ctx, 'w1', buildResult(request, { inline_result: Buffer.from('"other"') }));

    expect((await use.path(id)).filter((state) => state === 'SUCCEEDED')).toHaveLength(1);
    expect(await stored(id)).toBe(String(body));
  });

  it.each(['before', 'after'] as const)('after a crash %s the end was written, is stored once', async (when) => {
    const { scheduler, dispatched } = await started();
    const request = await dispatched();
    const { job_id: id } = request;
    await use.until(id, 'RUNNING');
    const { jobs } = scheduler.ctx.store;
    const move = jobs.move.bind(jobs);
    const crash = jest.spyOn(jobs, 'move').mockImplementation(async (...args) => {
      if (when === 'after') await move(...args);
      throw new Error('killed');
    });

    await expect(handleResult(scheduler.ctx, 'w1', buildResult(request))).rejects.toThrow('killed');

    expect(await stored(id)).toBe(when === 'after' ? String(body) : undefined);
    crash.mockRestore();
    await handleResult(scheduler.ctx, 'w1', buildResult(request));
    expect((await use.path(id)).filter((state) => state === 'SUCCEEDED')).toHaveLength(1);
    expect(await stored(id)).toBe(String(body));
  });
});
