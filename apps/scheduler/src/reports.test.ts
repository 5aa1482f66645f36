import { eventually } from '@svc/testing';
import { useScheduler } from './use-scheduler.testing';

const use = useScheduler();
const secret = 'AKIA' + 'IOSFODNN7REALKEY';

const policy = (match: string, decision: string) => `
version: '1'
default_decision: allow
output_policy: { enabled: true, fail_mode: closed }
output_rules:
  - { id: the-rule, severity: high, match: ${match}, decision: ${decision}, reason: because }
`;

async function readLog(id: string): Promise<Record<string, unknown>[]> {
  const { events } = await use.store.eventLogs.read({ job: id }, 0, 100);
  return events.map(({ text }) => JSON.parse(text) as Record<string, unknown>);
}
const readParts = async (id: string) => (await readLog(id)).map(({ kind, text }) => [kind, text]);
const untilLogged = (id: string, count: number) =>
  eventually(async () => expect(await readLog(id)).toHaveLength(count), { withinMs: 10_000 });

describe('log lines and partial output of a worker', () => {
  it('those of the SDK are logged in order, with secrets masked', async () => {
    await use.start();
    await use.worker({
      id: 'w1',
      topics: {
        'job.>': async (job) => {
          job.log(`connected with ${secret}`, 'warn');
          job.progress(40, `using ${secret}`);
          for (const token of ['Hello ', 'wor', 'ld, the key is ', secret, ' !']) job.stream(token);
          return { done: true };
        },
      },
    });

    const id = await use.submit();
    const job = await use.until(id, 'SUCCEEDED');
    const log = await readLog(id);

    expect(JSON.stringify([log, job.progress_message])).not.toContain(secret);
    expect(log.map(({ kind }) => kind).sort()).toEqual(['log', 'output', 'progress']);
    expect(log.find(({ kind }) => kind === 'log')).toMatchObject({
      job_id: id,
      attempt: 1,
      lines: [{ level: 'warn', message: expect.stringMatching(/^connected with .*REDACTED/) as string }],
    });
    expect(log.find(({ kind }) => kind === 'output')).toMatchObject({
      offset: 0,
      text: expect.stringMatching(/^Hello world, the key is .*REDACTED.* !$/) as string,
    });
  });

  it('those of another worker, of an earlier dispatch or of a job that has ended do not count', async () => {
    const scheduler = await use.start();
    const worker = await use.rawWorker({ id: 'w1' });
    const forger = await use.rawWorker({ id: 'w2', pool: 'other' });
    const id = await use.submit();
    const { dispatch } = await worker.dispatched(id);

    forger.report(id, { output: 'forged ' });
    forger.report(id, { output: 'forged ', dispatch });
    forger.progress(id, 99);
    worker.report(id, { output: 'stale ', dispatch: { dispatch_id: 'other', attempt: 1 } });
    worker.report(id, { output: 'genuine ', dispatch });

    await untilLogged(id, 1);
    expect(await readParts(id)).toEqual([['output', 'genuine ']]);
    await eventually(async () =>
      expect(await scheduler.metrics()).toMatch(/worker_reports_dropped_total\{(?=.*reason="not_holder").*\} 3/),
    );
  });

  it('too large and too frequent ones are dropped and counted', async () => {
    const scheduler = await use.start();
    const worker = await use.rawWorker({ id: 'w1' });
    const id = await use.submit();
    const { dispatch } = await worker.dispatched(id);

    worker.report(id, { output: 'x'.repeat(16_385), dispatch });
    for (let i = 0; i < 40; i++) worker.report(id, { output: 'y'.repeat(16_000), output_offset: i * 16_000, dispatch });

    await eventually(async () => {
      const text = await scheduler.metrics();
      expect(text).toMatch(/worker_reports_dropped_total\{(?=.*reason="size").*\} 1/);
      expect(text).toMatch(/worker_reports_dropped_total\{(?=.*reason="rate").*\} [1-9]/);
    });
    await eventually(async () => expect((await readLog(id)).length).toBeGreaterThan(10));
  });

  it('output policy sees each part with the one before, and a quarantine withholds the rest', async () => {
    await use.start({ policy: policy('{ content_patterns: ["launch[ ]code"] }', 'quarantine') });
    const worker = await use.rawWorker({ id: 'w1' });
    const id = await use.submit();
    const { dispatch } = await worker.dispatched(id);

    for (const output of ['the launch', ' code is 7', ' and more']) worker.report(id, { output, dispatch });

    await untilLogged(id, 2);
    worker.report(id, { logs: [{ level: 'info', message: 'last' }], dispatch });
    await untilLogged(id, 3);
    expect(await readParts(id)).toEqual([
      ['output', 'the launch'],
      ['withheld', undefined],
      ['log', undefined],
    ]);
  });
});
