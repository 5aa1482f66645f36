import { hint } from '../definition/nearest';
import { readCron, type Cron } from './cron';
import { toInstant, nextChange, findZone, type Zone } from './zone';

/** Timing fields of a schedule; wire spelling. One of `cron` and `interval_sec`. */
export interface ScheduleTimes {
  cron?: string;
  interval_sec?: number;
  /** IANA zone in which cron is read. */
  time_zone: string;
  /** ISO times that bound the fire times, inclusive. */
  start_at?: string;
  end_at?: string;
}

/** Fire times of a schedule. */
export interface Times {
  /** The first time after this one, Unix ms; undefined when there is none. */
  nextAfter(afterMs: number): number | undefined;
}

export type ReadTimes = { kind: 'ready'; times: Times } | { kind: 'bad'; message: string };

/**
 * Parses the timing of a schedule. A local time skipped by a clock change fires at the change; a repeated one fires the
 * first time. An expression that runs every hour follows elapsed time instead.
 *
 * @param createdAtMs origin of an interval without `start_at`
 * @returns `bad` with a message for the author
 */
export function readTimes(schedule: ScheduleTimes, createdAtMs: number): ReadTimes {
  const startMs = schedule.start_at === undefined ? undefined : Date.parse(schedule.start_at);
  const endMs = schedule.end_at === undefined ? undefined : Date.parse(schedule.end_at);
  const zone = findZone(schedule.time_zone);
  if (!zone) {
    const near = hint(schedule.time_zone, Intl.supportedValuesOf('timeZone'));
    return bad(`time_zone ${JSON.stringify(schedule.time_zone)} is no IANA zone such as Europe/Berlin${near}`);
  }
  if (startMs !== undefined && endMs !== undefined && endMs < startMs) {
    return bad('end_at is before start_at: put it after');
  }
  const { cron, interval_sec: everySec } = schedule;
  if (everySec !== undefined) {
    return ready(within(byInterval(everySec * 1_000, startMs ?? createdAtMs), startMs, endMs));
  }
  if (cron === undefined) return bad('cron or interval_sec is needed');
  const read = readCron(cron);
  if (read.kind === 'bad') return bad(`cron ${read.message}`);
  if (read.cron.nextWall(createdAtMs) === undefined) return bad('cron fits no day there is: change its day or month');
  const nextAfter = read.cron.everyHour ? byTheHour(read.cron, zone) : byTheClock(read.cron, zone);
  return ready(within(nextAfter, startMs, endMs));
}

/** The next times after one, soonest first, at most `count`. */
export function nextTimes(times: Times, afterMs: number, count: number): number[] {
  const found: number[] = [];
  for (let next = times.nextAfter(afterMs); next !== undefined && found.length < count;) {
    found.push(next);
    next = found.length < count ? times.nextAfter(next) : undefined;
  }
  return found;
}

const bad = (message: string) => ({ kind: 'bad', message }) as const;
const ready = (times: Times) => ({ kind: 'ready', times }) as const;

type NextAfter = Times['nextAfter'];

const within = (nextAfter: NextAfter, startMs: number | undefined, endMs: number | undefined): Times => ({
  nextAfter(afterMs) {
    const next = nextAfter(startMs === undefined ? afterMs : Math.max(afterMs, startMs - 1));
    return next === undefined || (endMs !== undefined && next > endMs) ? undefined : next;
  },
});

const byInterval =
  (everyMs: number, fromMs: number): NextAfter =>
  (afterMs) =>
    fromMs + Math.max(0, Math.floor((afterMs - fromMs) / everyMs) + 1) * everyMs;

/** Each matching clock reading counts once. */
const byTheClock =
  (cron: Cron, zone: Zone): NextAfter =>
  (afterMs) => {
    let wall = cron.nextWall(lastReading(zone, afterMs));
    // Skipped readings fire together.
    while (wall !== undefined && toInstant(zone, wall) <= afterMs) wall = cron.nextWall(wall);
    return wall === undefined ? undefined : toInstant(zone, wall);
  };

/** The latest reading up to this instant: after the clocks are set back, readings repeat. */
function lastReading(zone: Zone, atMs: number): number {
  const wall = atMs + zone.offsetMs(atMs);
  const first = toInstant(zone, wall);
  if (first === atMs) return wall;
  const change = nextChange(zone, first, atMs) ?? atMs;
  return change - 1 + zone.offsetMs(change - 1);
}

/** Each instant with a matching clock reading counts. */
const byTheHour =
  (cron: Cron, zone: Zone): NextAfter =>
  (afterMs) => {
    let since = afterMs;
    let wall = cron.nextWall(since + zone.offsetMs(since));
    for (;;) {
      if (wall === undefined) return undefined;
      const time = wall - zone.offsetMs(since);
      const change = nextChange(zone, since, time);
      if (change === undefined) return time;
      // Continue with the new offset, that instant included.
      since = change;
      wall = cron.nextWall(change - 1 + zone.offsetMs(change));
    }
  };
