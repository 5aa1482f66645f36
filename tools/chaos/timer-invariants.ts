import type { TimelineEvent, TimelineType } from '@svc/workflow';
import type { History, Outage, RunHistory, Violation } from './history';

/** Tolerated delay of a timer. */
const maxLateMs = 2_000;

/** Per kind of timer: event that sets it, field with its due time, event when it fires. */
const timers: readonly { set: TimelineType; due: string; fired: TimelineType }[] = [
  { set: 'step_delay_started', due: 'until_ms', fired: 'step_delay_completed' },
  { set: 'step_retry_scheduled', due: 'at_ms', fired: 'step_dispatched' },
];

/** A timer that fired. */
export interface Fired {
  runId: string;
  path: string;
  /** Below 0: early. */
  lateMs: number;
  /** The part of it in which engine and Redis were available. */
  unexcusedMs: number;
}

/** All timers that fired. Times are of the Redis clock, which the harness never changes. */
export function timersFired({ runs, outages }: Pick<History, 'runs' | 'outages'>): Fired[] {
  const merged = merge(outages);
  return [...runs].flatMap(([runId, { timeline }]) =>
    timeline.flatMap((event, i) => {
      const kind = timers.find(({ set }) => set === event.type);
      const fired = kind && next(timeline, i, kind.set, kind.fired);
      if (!fired) return [];
      const dueMs = Number(event.data?.[kind.due]);
      const lateMs = fired.time_ms - dueMs;
      return [
        { runId, path: event.step_id ?? '', lateMs, unexcusedMs: lateMs - overlapMs(merged, dueMs, fired.time_ms) },
      ];
    }),
  );
}

/** I16. A timer fires once, never early, and within two seconds of its time, not counting outages of the engine or Redis. */
export function timersKeepTime(history: History): Violation[] {
  const offTime = timersFired(history).flatMap(({ runId, path, lateMs, unexcusedMs }) => {
    const fault = lateMs < 0 ? `${-lateMs} ms early` : `${lateMs} ms late, ${unexcusedMs} ms of it outside of outages`;
    return lateMs < 0 || unexcusedMs > maxLateMs ? [violation(runId, `${path} continued ${fault}`)] : [];
  });
  return [...offTime, ...[...history.runs.values()].flatMap(firedTwice)];
}

function firedTwice({ run, timeline }: RunHistory): Violation[] {
  const count = (type: TimelineType, path: string | undefined) =>
    timeline.filter((event) => event.type === type && event.step_id === path).length;
  const paths = new Set(timeline.map(({ step_id: path }) => path));
  return [...paths].flatMap((path) => {
    const fired = count('step_delay_completed', path);
    return fired > count('step_delay_started', path)
      ? [violation(run.id, `the timer of ${path} fired ${fired} times`)]
      : [];
  });
}

const violation = (jobId: string, text: string): Violation => ({ invariant: 'I16', jobId, text });

/** The event of the timer firing; undefined when it was cancelled or has not fired yet. */
function next(timeline: readonly TimelineEvent[], after: number, set: TimelineType, fired: TimelineType) {
  const id = timeline[after]?.step_id;
  const later = timeline.slice(after + 1).filter(({ step_id }) => step_id === id);
  return later.find(({ type }) => type === fired || type === set || type === 'step_cancelled')?.type === fired
    ? later.find(({ type }) => type === fired)
    : undefined;
}

/** Joins overlapping outages. */
function merge(outages: readonly Outage[]): Outage[] {
  const merged: Outage[] = [];
  for (const outage of [...outages].sort((a, b) => a.fromMs - b.fromMs)) {
    const last = merged.at(-1);
    if (last && outage.fromMs <= last.toMs) last.toMs = Math.max(last.toMs, outage.toMs);
    else merged.push({ ...outage });
  }
  return merged;
}

const overlapMs = (outages: readonly Outage[], fromMs: number, toMs: number): number =>
  outages.reduce((sum, o) => sum + Math.max(0, Math.min(o.toMs, toMs) - Math.max(o.fromMs, fromMs)), 0);
