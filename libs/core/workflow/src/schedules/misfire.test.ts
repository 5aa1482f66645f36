import { applyMisfireRule, misfireLimits, type MisfireRule } from './misfire';
import { readTimes, type ScheduleTimes } from './times';

const minute = 60_000;
const created = Date.parse('2026-11-21T00:00:00Z');
const judge = (
  rule: MisfireRule,
  due: number,
  now: number,
  schedule: Partial<ScheduleTimes> = { interval_sec: 600 },
) => {
  const read = readTimes({ time_zone: 'UTC', ...schedule }, created);
  if (read.kind === 'bad') throw new Error(read.message);
  return applyMisfireRule(read.times, rule, created + due, created + now);
};
const at = (...minutes: number[]) => minutes.map((one) => created + one * minute);

describe('a time that is due', () => {
  it.each(['skip', 'run_once', 'run_all'] as const)('%s: starts, even slightly late', (rule) => {
    expect(judge(rule, 10 * minute, 10 * minute + misfireLimits.graceMs)).toEqual({
      starts: at(10),
      leftOut: false,
      nextMs: created + 20 * minute,
    });
  });

  it('that its schedule no longer contains still starts', () => {
    expect(judge('run_once', 7 * minute, 7 * minute).starts).toEqual(at(7));
  });

  it('that is the last has none after it', () => {
    const schedule = { interval_sec: 600, end_at: '2026-11-21T00:10:00Z' };

    expect(judge('run_once', 10 * minute, 10 * minute, schedule)).toEqual({ starts: at(10), leftOut: false });
  });
});

describe('missed times', () => {
  it('skip: none is started', () => {
    expect(judge('skip', 10 * minute, 45 * minute)).toEqual({
      starts: [],
      leftOut: true,
      nextMs: created + 50 * minute,
    });
  });

  it('skip: the time that is due now still starts', () => {
    expect(judge('skip', 10 * minute, 40 * minute + 5)).toMatchObject({ starts: at(40), leftOut: true });
  });

  it('run_once: only the newest starts', () => {
    expect(judge('run_once', 10 * minute, 45 * minute)).toMatchObject({ starts: at(40), leftOut: true });
  });

  it('run_all: each, oldest first', () => {
    expect(judge('run_all', 10 * minute, 45 * minute)).toMatchObject({ starts: at(10, 20, 30, 40), leftOut: false });
  });

  it.each([
    ['seconds over a year', { interval_sec: 1 }, 1_000],
    ['seconds of a cron', { cron: '* * * * * *', time_zone: 'Europe/Berlin' }, 1_000],
    ['minutes of a cron', { cron: '*/5 * * * *' }, 5 * minute],
  ])('run_all: the newest %s, no more than the limit', (_, schedule, step) => {
    const year = 365 * 24 * 60 * minute;
    const { starts, leftOut, nextMs } = judge('run_all', step, year, schedule);

    expect(starts).toHaveLength(misfireLimits.madeUpFor);
    expect(starts.at(-1)).toBe(created + year);
    expect(starts[0]).toBe(created + year - (misfireLimits.madeUpFor - 1) * step);
    expect(leftOut).toBe(true);
    expect(nextMs).toBe(created + year + step);
  });
});
