import { setTimeout as sleep } from 'node:timers/promises';
import { useEngine } from './use-engine.testing';

const use = useEngine();
const hour = 3_600_000;
/** Tolerated delay on a busy machine; a wrong clock would cause an hour. */
const lateMs = 10_000;

describe('timers', () => {
  const delay = { wait: { type: 'delay', delay_sec: 2 } } as const;
  const waited = async (id: string) => {
    const { started_at_ms = 0, completed_at_ms = 0 } = (await use.ended(id, 'succeeded')).steps['wait'] ?? {};
    return completed_at_ms - started_at_ms;
  };
  const onTime = (ms: number) => {
    expect(ms).toBeGreaterThanOrEqual(2_000);
    expect(ms).toBeLessThan(2_000 + lateMs);
  };

  it.each([
    ['ahead', hour],
    ['behind', -hour],
  ])('fire on time when the clock of the only engine is an hour %s', async (_, aheadMs) => {
    const real = Date.now;
    // BullMQ reads the process clock, so that is shifted too.
    jest.spyOn(Date, 'now').mockImplementation(() => real() + aheadMs);
    try {
      await use.start({ aheadMs: 0 });

      onTime(await waited(await use.submitRun(delay)));
    } finally {
      jest.restoreAllMocks();
    }
  });

  it('of steps apply to their jobs too: an engine whose clock is an hour behind does not delay them', async () => {
    await use.start({ aheadMs: -hour });

    await use.ended(await use.submitRun({ work: { topic: 'job.work', timeout_sec: 60 } }), 'succeeded');
  });

  it('that were due while no engine was running fire immediately, once', async () => {
    const first = await use.start();
    const id = await use.submitRun(delay);
    await use.step(id, 'wait', 'running');
    await use.stop(first);
    await sleep(2_500);

    await use.start();

    const run = await use.ended(id, 'succeeded');
    expect(run.steps['wait']?.attempts).toBe(1);
    expect((await use.timeline(id)).filter(({ type }) => type === 'step_delay_completed')).toHaveLength(1);
  });

  it('fire once with any number of engines', async () => {
    await Promise.all([use.start(), use.start(), use.start()]);
    const ids = await Promise.all(Array.from({ length: 20 }, () => use.submitRun(delay)));

    for (const id of ids) onTime(await waited(id));
    for (const id of ids) {
      expect((await use.timeline(id)).filter(({ type }) => type === 'step_delay_completed')).toHaveLength(1);
    }
  });
});
