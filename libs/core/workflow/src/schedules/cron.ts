import { CronExpressionParser, type CronFieldCollection } from 'cron-parser';

/** A cron expression in local time: a wall time is the Unix time (ms) of the same reading in UTC. */
export interface Cron {
  /** It runs every hour, so that clock changes need no correction. */
  everyHour: boolean;
  /** The first matching wall time after this one; undefined when there is none. */
  nextWall(afterMs: number): number | undefined;
}

export type ReadCron = { kind: 'ready'; cron: Cron } | { kind: 'bad'; message: string };

const dayMs = 86_400_000;
/** Longer than any gap: a fifth Monday in February comes after at most 40 years. */
const maxDays = 41 * 366;
const item = /^(?:[*?]|L|[a-z\d]+L?|[a-z\d]+-[a-z\d]+|[a-z\d]+#\d)(?:\/\d+)?$/i;
const names = ['minute', 'hour', 'day of month', 'month', 'day of week'];

/**
 * Parses an expression of five fields, or six with seconds first. The library parses the fields; the search for the next
 * day is our own, since the library's takes 60 µs to 250 ms and handles clock changes differently.
 */
export function readCron(text: string): ReadCron {
  const parts = text.trim().split(/\s+/);
  if (parts.length !== 5 && parts.length !== 6) {
    const given = text.trim() === '' ? 0 : parts.length;
    return bad(`has ${given} fields and needs five (${names.join(', ')}), or six with seconds before them`);
  }
  for (const [i, part] of parts.entries()) {
    const name = [...(parts.length === 6 ? ['second'] : []), ...names][i] ?? '';
    // The library supports H for a random value, which would differ between processes.
    const odd = part.split(',').find((one) => !item.test(one) || /^h/i.test(one));
    if (odd !== undefined) {
      return bad(`has ${JSON.stringify(odd)} as its ${name}: write a number, a-b, *, */n or a list of these`);
    }
  }
  try {
    return { kind: 'ready', cron: buildCron(CronExpressionParser.parse(parts.join(' '), { tz: 'UTC' }).fields) };
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    return bad(`cannot be read: ${why.charAt(0).toLowerCase()}${why.slice(1)}`);
  }
}

const bad = (message: string) => ({ kind: 'bad', message }) as const;

function buildCron(fields: CronFieldCollection): Cron {
  const [hours, minutes, seconds] = [fields.hour.values, fields.minute.values, fields.second.values];
  const fits = dayRule(fields);
  return {
    everyHour: hours.length === 24,
    nextWall(afterMs) {
      const firstSec = Math.floor(afterMs / 1_000) + 1;
      const firstDay = Math.floor(firstSec / 86_400);
      for (let day = firstDay; day <= firstDay + maxDays; day++) {
        if (!fits(new Date(day * dayMs))) continue;
        const sec = timeOfDay(hours, minutes, seconds, day === firstDay ? firstSec - day * 86_400 : 0);
        if (sec !== undefined) return day * dayMs + sec * 1_000;
      }
      return undefined;
    },
  };
}

/** Standard cron: when both kinds of day are given, either may match. */
function dayRule({ month, dayOfMonth, dayOfWeek }: CronFieldCollection): (day: Date) => boolean {
  const months = new Set<number>(month.values);
  const days = new Set<number>(dayOfMonth.values.filter((value) => typeof value === 'number'));
  const weekdays = new Set(dayOfWeek.values.filter((value) => typeof value === 'number').map((value) => value % 7));
  const last = new Set(
    dayOfWeek.values.filter((value) => typeof value === 'string').map((value) => parseInt(value) % 7),
  );
  const { nthDay } = dayOfWeek;
  return (day) => {
    if (!months.has(day.getUTCMonth() + 1)) return false;
    const [date, weekday] = [day.getUTCDate(), day.getUTCDay()];
    const left = new Date(Date.UTC(day.getUTCFullYear(), day.getUTCMonth() + 1, 0)).getUTCDate() - date;
    const ofMonth = days.has(date) || (dayOfMonth.hasLastChar && left === 0);
    const ofWeek =
      (weekdays.has(weekday) && (nthDay <= 0 || Math.ceil(date / 7) === nthDay)) || (last.has(weekday) && left < 7);
    if (dayOfWeek.isWildcard) return ofMonth;
    return dayOfMonth.isWildcard ? ofWeek : ofMonth || ofWeek;
  };
}

/** The first matching second of the day, from this one on. */
function timeOfDay(
  hours: readonly number[],
  minutes: readonly number[],
  seconds: readonly number[],
  fromSec: number,
): number | undefined {
  for (const hour of hours) {
    if (hour * 3_600 + 3_599 < fromSec) continue;
    for (const minute of minutes) {
      const start = hour * 3_600 + minute * 60;
      if (start + 59 < fromSec) continue;
      const second = seconds.find((one) => start + one >= fromSec);
      if (second !== undefined) return start + second;
    }
  }
  return undefined;
}
