import { inlineDataLabel, maxInlineBytes, storeAccessLabel } from '@svc/contract';
import { eventually, useServers } from '@svc/testing';
import { createHash } from 'node:crypto';
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

async function started(handler: (job: Job) => unknown, more: Partial<WorkerOptions> = {}): Promise<void> {
  const worker = createWorker({
    id: 'w-1',
    topics: { 'job.demo.echo': handler },
    natsUrl: servers.natsUrl,
    redisUrl: servers.redisUrl,
    signals: [],
    graceMs: 300,
    onError: () => undefined,
    ...more,
  });
  workers.push(worker);
  await worker.start();
}

const context_ptr = 'redis://ctx:j';
const inline_input = Buffer.from('{"prompt":"hello"}');
const result_ticket = Buffer.from([0, 255, 1, 254]);
const stored = async (jobId: string) => scheduler.redis.getBuffer(`res:${jobId}`);

describe('inline data', () => {
  it('is announced by heartbeats', async () => {
    await started(() => 'x');

    await eventually(() =>
      expect(scheduler.of('heartbeat')[0]?.labels).toMatchObject({
        [inlineDataLabel]: 'true',
        [storeAccessLabel]: 'true',
      }),
    );
  });

  it('is announced without access to a store by a worker that has no Redis URL', async () => {
    await started(() => 'x', { redisUrl: '' });

    await eventually(() => expect(scheduler.of('heartbeat')[0]?.labels[inlineDataLabel]).toBe('true'));
    expect(scheduler.of('heartbeat')[0]?.labels).not.toHaveProperty(storeAccessLabel);
  });

  it('replaces the read of the input and the write of the result', async () => {
    await started((job) => ({ echo: job.prompt, ptr: job.contextPtr }));

    await scheduler.dispatch({ job_id: 'j', context_ptr, inline_input, result_ticket }, { to: 'w-1' });

    const [result] = await scheduler.results('j');
    expect(result).toMatchObject({ status: 5, result_ptr: 'redis://res:j', dispatch: { dispatch_id: 'd-1' } });
    expect(JSON.parse(Buffer.from(result?.inline_result ?? []).toString())).toEqual({
      echo: 'hello',
      ptr: context_ptr,
    });
    expect(Buffer.from(result?.result_ticket ?? [])).toEqual(result_ticket);
    expect(await stored('j')).toBeNull();
  });

  it('works without access to a store', async () => {
    const errors: unknown[] = [];
    await started((job) => job.prompt, { redisUrl: '', onError: (error) => errors.push(error) });

    await scheduler.dispatch({ job_id: 'j', context_ptr, inline_input, result_ticket }, { to: 'w-1' });

    const [result] = await scheduler.results('j');
    expect(Buffer.from(result?.inline_result ?? []).toString()).toBe('"hello"');
    expect(errors).toEqual([]);
  });

  it('repeats the same result for a repeated dispatch', async () => {
    let runs = 0;
    await started(() => {
      runs += 1;
      return 'done';
    });

    await scheduler.dispatch({ job_id: 'j', inline_input, result_ticket }, { to: 'w-1' });
    await scheduler.results('j');
    await scheduler.dispatch({ job_id: 'j', inline_input, result_ticket }, { to: 'w-1', again: '-again' });

    const [first, second] = await scheduler.results('j', 2);
    expect(second).toEqual(first);
    expect(runs).toBe(1);
  });

  const notInline: [string, object, string | Uint8Array][] = [
    ['the dispatch has no ticket', { inline_input }, 'x'],
    ['the body is larger', { inline_input, result_ticket }, 'x'.repeat(maxInlineBytes - 1)],
    ['the body is larger in bytes only', { result_ticket }, '\u00e9'.repeat(maxInlineBytes / 2)],
    ['the body is empty', { result_ticket }, new Uint8Array()],
  ];
  it.each(notInline)('leaves the result in the store when %s', async (_, fields, value) => {
    await started(() => value);

    await scheduler.dispatch({ job_id: 'j', ...fields }, { to: 'w-1' });

    const [result] = await scheduler.results('j');
    expect(result).toMatchObject({ status: 5, result_ptr: 'redis://res:j' });
    expect([result?.inline_result.length, result?.result_ticket.length]).toEqual([0, 0]);
    expect(await stored('j')).toEqual(Buffer.from(typeof value === 'string' ? JSON.stringify(value) : value));
  });

  it('accepts a body of exactly the limit', async () => {
    await started(() => 'x'.repeat(maxInlineBytes - 2));

    await scheduler.dispatch({ job_id: 'j', result_ticket }, { to: 'w-1' });

    const [result] = await scheduler.results('j');
    expect(result?.inline_result).toHaveLength(maxInlineBytes);
    expect(await stored('j')).toBeNull();
  });

  it('echoes no ticket without a body', async () => {
    await started((job) => {
      if (job.jobId === 'failed') throw new Error('no');
    });

    for (const job_id of ['failed', 'nothing']) await scheduler.dispatch({ job_id, result_ticket }, { to: 'w-1' });

    for (const job_id of ['failed', 'nothing']) {
      const [result] = await scheduler.results(job_id);
      expect([result?.inline_result.length, result?.result_ticket.length, result?.result_ptr]).toEqual([0, 0, '']);
    }
  });

  it('is checked against context_ref', async () => {
    await started((job) => job.prompt);
    const sha256 = createHash('sha256').update('another document').digest();

    await scheduler.dispatch(
      { job_id: 'j', context_ptr, inline_input, context_ref: { uri: context_ptr, sha256 } },
      { to: 'w-1' },
    );

    const [result] = await scheduler.results('j');
    expect(result).toMatchObject({ status: 11, error_code: 'integrity_check_failed' });
  });
});
