import { newRun, type TimelineEvent } from '@svc/workflow';
import type { History, Outage } from './history';
import { timersFired, timersKeepTime } from './timer-invariants';

type EventFields = Pick<TimelineEvent, 'type' | 'time_ms'> & Partial<TimelineEvent>;

const dueMs = 10_000;
const set: EventFields = { type: 'step_delay_started', time_ms: 9_000, step_id: 'dry', data: { until_ms: dueMs } };
const fired = (atMs: number): EventFields => ({ type: 'step_delay_completed', time_ms: atMs, step_id: 'dry' });
const retry: EventFields = { type: 'step_retry_scheduled', time_ms: 9_000, step_id: 'a[2]', data: { at_ms: dueMs } };
const again = (atMs: number): EventFields => ({ type: 'step_dispatched', time_ms: atMs, step_id: 'a[2]' });

const history = (events: EventFields[], outages: Outage[] = []): History => {
  const run = newRun({ id: 'r1', workflow_id: 'w', org_id: 'acme', input: {} }, 0);
  const timeline = events.map((line) => ({ run_id: 'r1', workflow_id: 'w', ...line }));
  const runs = new Map([['r1', { run, timeline, left: {}, shownAs: [] }]]);
  return {
    calls: [],
    jobs: new Map(),
    runs,
    outages,
    dispatches: [],
    answers: [],
    mayWait: new Set(),
    money: new Map(),
    audit: new Map(),
    left: {},
  };
};
const faults = (events: EventFields[], outages?: Outage[]) =>
  timersKeepTime(history(events, outages)).map(({ text }) => text);

describe('I16 timers', () => {
  it('accepts a timer that is up to two seconds late', () => {
    expect(faults([set, fired(dueMs), retry, again(dueMs + 2_000)])).toEqual([]);
  });

  it('reports a timer that is 1 ms early', () => {
    expect(faults([set, fired(dueMs - 1)])).toEqual(['dry continued 1 ms early']);
    expect(faults([retry, again(dueMs - 1)])).toEqual(['a[2] continued 1 ms early']);
  });

  it('reports a late timer, unless engine or Redis were unavailable for that time', () => {
    const late = [set, fired(dueMs + 5_000)];

    expect(faults(late)).toEqual(['dry continued 5000 ms late, 5000 ms of it outside of outages']);
    expect(faults(late, [{ fromMs: dueMs + 500, toMs: dueMs + 3_500 }])).toEqual([]);
    expect(faults(late, [{ fromMs: 0, toMs: dueMs + 1_000 }])).toEqual([
      'dry continued 5000 ms late, 4000 ms of it outside of outages',
    ]);
  });

  it('counts overlapping outages once', () => {
    const outages = [
      { fromMs: dueMs, toMs: dueMs + 2_000 },
      { fromMs: dueMs + 1_000, toMs: dueMs + 2_000 },
    ];

    expect(timersFired(history([set, fired(dueMs + 5_000)], outages))).toMatchObject([
      { lateMs: 5_000, unexcusedMs: 3_000 },
    ]);
  });

  it('reports a timer that fires twice', () => {
    expect(faults([set, fired(dueMs), fired(dueMs + 1)])).toEqual(['the timer of dry fired 2 times']);
  });

  it('ignores a cancelled timer', () => {
    const cancelled: EventFields = { type: 'step_cancelled', time_ms: 9_500, step_id: 'a[2]' };

    expect(timersFired(history([retry, cancelled]))).toEqual([]);
  });
});
