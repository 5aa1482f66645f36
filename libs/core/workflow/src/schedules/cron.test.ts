import { CronExpressionParser } from 'cron-parser';
import fc from 'fast-check';
import { readCron } from './cron';

const ms = (text: string) => Date.parse(`${text}Z`);
const cron = (text: string) => {
  const read = readCron(text);
  if (read.kind === 'bad') throw new Error(read.message);
  return read.cron;
};
const next = (text: string, after: string) => {
  const wall = cron(text).nextWall(ms(after));
  return wall === undefined ? undefined : new Date(wall).toISOString().slice(0, 19);
};
const getFault = (text: string) => {
  const read = readCron(text);
  return read.kind === 'bad' ? read.message : 'none';
};

describe('an expression', () => {
  it.each([
    ['0 9 * * *', '2026-11-21T09:00:00', '2026-11-22T09:00:00'],
    ['15 0 9 * * *', '2026-11-21T09:00:14', '2026-11-21T09:00:15'],
    ['*/15 * * * *', '2026-11-21T09:44:59', '2026-11-21T09:45:00'],
    ['0 9-17/4 * * mon-fri', '2026-11-20T17:00:00', '2026-11-23T09:00:00'],
    ['0 0 29 2 *', '2026-01-01T00:00:00', '2028-02-29T00:00:00'],
    ['0 0 29 2 *', '2096-02-29T00:00:00', '2104-02-29T00:00:00'],
    ['0 0 L * *', '2027-02-01T00:00:00', '2027-02-28T00:00:00'],
    ['0 0 L 2 *', '2027-03-01T00:00:00', '2028-02-29T00:00:00'],
    ['0 0 * * 1#3', '2026-11-01T00:00:00', '2026-11-16T00:00:00'],
    ['0 0 * * 5L', '2026-11-01T00:00:00', '2026-11-27T00:00:00'],
    ['0 0 * * 7', '2026-11-21T00:00:00', '2026-11-22T00:00:00'],
    ['0 0 * feb mon#5', '2072-03-01T00:00:00', '2112-02-29T00:00:00'],
    ['0 0 31 * 2', '2026-11-21T00:00:00', '2026-11-24T00:00:00'],
    ['59 59 23 31 12 *', '2026-12-31T23:59:59', '2027-12-31T23:59:59'],
  ])('%s after %s is %s', (text, after, expected) => {
    expect(next(text, after)).toBe(expected);
  });

  it('that matches no day has no next time, and is detected quickly', () => {
    expect(next('0 0 31 2,4,6,9,11 *', '2026-11-21T00:00:00')).toBeUndefined();
  });

  it.each([
    [
      '',
      'has 0 fields and needs five (minute, hour, day of month, month, day of week), or six with seconds before them',
    ],
    ['* * * *', 'has 4 fields and'],
    ['* * * * * * *', 'has 7 fields and'],
    ['@daily', 'has 1 fields and'],
    ['61 * * * *', 'got value 61 expected range 0-59'],
    ['1-5-9 * * * *', 'has "1-5-9" as its minute: write a number, a-b, *, */n or a list of these'],
    ['0 0 15W * *', 'invalid characters, got value: 15W'],
    ['0 0 31 2 *', 'invalid explicit day of month'],
    ['0 H * * *', '"H" as its hour'],
    ['0 0 0 H(1-5) * *', '"H(1-5)" as its day of month'],
    ['*/0 * * * *', 'cannot repeat at every 0'],
    ['0 0 * foo *', 'cannot resolve alias'],
    ['10-5 * * * *', 'min(10) > max(5)'],
    ['1,,2 * * * *', 'has "" as its minute'],
  ])('%j: %s', (text, message) => {
    expect(getFault(text)).toContain(message);
  });

  it('of any text is parsed or rejected, never thrown', () => {
    const text = fc.string({ unit: fc.constantFrom(...'0123456789*/-,?LHW#@ abcdefmnorstu'.split('')), maxLength: 40 });
    fc.assert(
      fc.property(text, (one) => {
        const read = readCron(one);
        if (read.kind === 'ready') read.cron.nextWall(ms('2026-11-21T00:00:00'));
      }),
      { numRuns: 2_000 },
    );
  });

  it('has the same next times as the library', () => {
    const list = (min: number, max: number) =>
      fc.uniqueArray(fc.integer({ min, max }), { minLength: 1, maxLength: 4 }).map((values) => values.join());
    const field = (min: number, max: number) => {
      const stars = [fc.constant('*'), fc.constant('*'), fc.integer({ min: 1, max }).map((step) => `*/${step}`)];
      const range = fc.tuple(fc.integer({ min, max }), fc.integer({ min, max })).map(([a, b]) => `${Math.min(a, b)}-${Math.max(a, b)}`); // prettier-ignore
      return fc.oneof(...stars, list(min, max), range);
    };
    const dates = fc.oneof(field(1, 31), fc.constant('L'));
    const weekdays = fc.oneof(field(0, 6), fc.constantFrom('5L', '1#2', 'mon-fri', '6#5'));
    const fields = fc.tuple(field(0, 59), field(0, 59), field(0, 23), dates, field(1, 12), weekdays);
    fc.assert(
      fc.property(fields, fc.integer({ min: ms('2026-01-01'), max: ms('2030-01-01') }), (parts, after) => {
        const text = parts.join(' ');
        fc.pre(readCron(text).kind === 'ready');
        const theirs = CronExpressionParser.parse(text, { tz: 'UTC', currentDate: new Date(after) });
        let expected: number | undefined;
        try {
          expected = theirs.next().getTime();
        } catch {
          expected = undefined;
        }
        expect(cron(text).nextWall(after)).toBe(expected);
      }),
      { numRuns: 500 },
    );
  });
});
