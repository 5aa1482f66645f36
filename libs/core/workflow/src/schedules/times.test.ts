import fc from 'fast-check';
import { readCron } from './cron';
import { nextTimes, readTimes, type ScheduleTimes } from './times';

const ms = (text: string) => Date.parse(text);
const createdAt = ms('2026-11-21T00:00:00Z');
const read = (schedule: Partial<ScheduleTimes>, created = createdAt) => {
  const outcome = readTimes({ time_zone: 'UTC', ...schedule }, created);
  if (outcome.kind === 'bad') throw new Error(outcome.message);
  return outcome.times;
};
const next = (schedule: Partial<ScheduleTimes>, after: string, count: number) =>
  nextTimes(read(schedule), ms(after), count).map((time) => new Date(time).toISOString().replace(':00.000Z', 'Z'));
const getFault = (schedule: Partial<ScheduleTimes>) => {
  const outcome = readTimes({ time_zone: 'UTC', ...schedule }, createdAt);
  return outcome.kind === 'bad' ? outcome.message : 'none';
};
const berlin = { time_zone: 'Europe/Berlin' };

describe('when the clocks go forward', () => {
  // Berlin: 2027-03-28, 02:00 becomes 03:00 at 01:00Z.
  it('a skipped time fires at the change, and the next day is unaffected', () => {
    expect(next({ ...berlin, cron: '30 2 * * *' }, '2027-03-27T00:00:00Z', 3)).toEqual([
      '2027-03-27T01:30Z',
      '2027-03-28T01:00Z',
      '2027-03-29T00:30Z',
    ]);
  });

  it('several skipped times fire together, and with one that is due then', () => {
    expect(next({ ...berlin, cron: '*/20 2,3 * * *' }, '2027-03-28T00:00:00Z', 4)).toEqual([
      '2027-03-28T01:00Z',
      '2027-03-28T01:20Z',
      '2027-03-28T01:40Z',
      '2027-03-29T00:00Z',
    ]);
  });

  it('an hourly schedule continues', () => {
    expect(next({ ...berlin, cron: '30 * * * *' }, '2027-03-28T00:00:00Z', 3)).toEqual([
      '2027-03-28T00:30Z',
      '2027-03-28T01:30Z',
      '2027-03-28T02:30Z',
    ]);
  });

  it('a skipped day fires when the next begins', () => {
    // Apia had no 30 December 2011: after the 29th came the 31st, at 10:00Z.
    expect(next({ time_zone: 'Pacific/Apia', cron: '0 12 * * *' }, '2011-12-29T00:00:00Z', 3)).toEqual([
      '2011-12-29T22:00Z',
      '2011-12-30T10:00Z',
      '2011-12-30T22:00Z',
    ]);
  });

  it('handles changes of half an hour', () => {
    // Lord Howe: 2026-10-04, 02:00 becomes 02:30 at 2026-10-03T15:30Z.
    expect(next({ time_zone: 'Australia/Lord_Howe', cron: '15 2 * * *' }, '2026-10-03T00:00:00Z', 2)).toEqual([
      '2026-10-03T15:30Z',
      '2026-10-04T15:15Z',
    ]);
  });
});

describe('when the clocks go back', () => {
  // Berlin: 2026-10-25, 03:00 becomes 02:00 at 01:00Z.
  it('a repeated time fires the first time', () => {
    expect(next({ ...berlin, cron: '30 2 * * *' }, '2026-10-24T01:00:00Z', 3)).toEqual([
      '2026-10-25T00:30Z',
      '2026-10-26T01:30Z',
      '2026-10-27T01:30Z',
    ]);
  });

  it('no repeated time fires again, from any starting point', () => {
    for (const after of ['00:59:59', '01:00:00', '01:30:00', '01:59:59']) {
      expect(next({ ...berlin, cron: '*/5 2 * * *' }, `2026-10-25T${after}Z`, 1)).toEqual(['2026-10-26T01:00Z']);
    }
    expect(next({ ...berlin, cron: '0 2,3 * * *' }, '2026-10-25T01:30:00Z', 1)).toEqual(['2026-10-25T02:00Z']);
  });

  it('an hourly schedule runs in both hours', () => {
    expect(next({ ...berlin, cron: '*/30 * * * *' }, '2026-10-25T00:00:00Z', 5)).toEqual([
      '2026-10-25T00:30Z',
      '2026-10-25T01:00Z',
      '2026-10-25T01:30Z',
      '2026-10-25T02:00Z',
      '2026-10-25T02:30Z',
    ]);
  });

  it('at midnight, the day that begins twice fires once', () => {
    // Havana: 2026-11-01, 01:00 becomes 00:00 at 05:00Z.
    expect(next({ time_zone: 'America/Havana', cron: '0 0 * * *' }, '2026-10-31T12:00:00Z', 2)).toEqual([
      '2026-11-01T04:00Z',
      '2026-11-02T05:00Z',
    ]);
  });
});

describe('an interval', () => {
  it('counts from start_at, and begins with it', () => {
    const schedule = { interval_sec: 3_600, start_at: '2026-12-01T00:20:00Z' };

    expect(next(schedule, '2026-11-21T00:00:00Z', 2)).toEqual(['2026-12-01T00:20Z', '2026-12-01T01:20Z']);
    expect(next(schedule, '2026-12-01T01:20:00Z', 1)).toEqual(['2026-12-01T02:20Z']);
  });

  it('counts from its creation without start_at', () => {
    expect(next({ interval_sec: 90 }, '2026-11-21T00:00:00Z', 2)).toEqual([
      '2026-11-21T00:01:30.000Z',
      '2026-11-21T00:03Z',
    ]);
  });
});

describe('start_at and end_at', () => {
  it('bound the times, both included', () => {
    const schedule = { cron: '0 9 * * *', start_at: '2026-12-01T09:00:00Z', end_at: '2026-12-03T09:00:00Z' };

    expect(next(schedule, '2026-11-21T00:00:00Z', 9)).toEqual([
      '2026-12-01T09:00Z',
      '2026-12-02T09:00Z',
      '2026-12-03T09:00Z',
    ]);
  });

  it('without a time between them have none', () => {
    const schedule = { cron: '0 9 * * *', start_at: '2026-12-01T10:00:00Z', end_at: '2026-12-01T11:00:00Z' };

    expect(next(schedule, '2026-11-21T00:00:00Z', 1)).toEqual([]);
  });

  it('may have their own offset', () => {
    expect(next({ interval_sec: 60, start_at: '2026-12-01T00:00:00+02:00' }, '2026-11-21T00:00:00Z', 1)).toEqual([
      '2026-11-30T22:00Z',
    ]);
  });
});

describe('invalid schedules', () => {
  it.each([
    [
      { cron: '0 9 * * *', time_zone: 'Europe/Berlni' },
      /"Europe\/Berlni" is no IANA zone .*did you mean Europe\/Berlin/,
    ],
    [{ cron: '0 9 * * *', time_zone: '+01:00' }, /is no IANA zone/],
    [{ cron: '0 9 * * *', time_zone: '' }, /is no IANA zone/],
    [{ cron: '0 0 31 2,4 *' }, /fits no day there is: change its day or month/],
    [{ cron: '0 0 * *' }, /^cron has 4 fields/],
    [{ interval_sec: 60, start_at: '2027-01-02', end_at: '2027-01-01' }, /end_at is before start_at/],
    [{}, /cron or interval_sec is needed/],
  ])('%j is rejected with the reason', (schedule, message) => {
    expect(getFault(schedule)).toMatch(message);
  });
});

describe('against a reference that checks every minute', () => {
  const zones = [
    ['Europe/Berlin', '2026-10-24T00:00:00Z'],
    ['Europe/Berlin', '2027-03-27T00:00:00Z'],
    ['America/New_York', '2026-10-31T00:00:00Z'],
    ['America/Havana', '2027-03-13T00:00:00Z'],
    ['Australia/Lord_Howe', '2026-10-03T00:00:00Z'],
    ['Australia/Lord_Howe', '2027-04-03T00:00:00Z'],
    ['Atlantic/Azores', '2026-10-24T00:00:00Z'],
    ['Africa/Cairo', '2026-04-23T00:00:00Z'],
    ['Pacific/Apia', '2011-12-29T00:00:00Z'],
    ['UTC', '2028-02-28T00:00:00Z'],
  ] as const;
  const list = (max: number, min = 0) =>
    fc.uniqueArray(fc.integer({ min, max }), { minLength: 1, maxLength: 5 }).map((values) => values.join());
  const crons = fc.record({
    minute: fc.oneof(list(59), fc.constantFrom('*', '*/7', '0', '30')),
    hour: fc.oneof(list(23), fc.constantFrom('*', '*/2', '0', '1-3', '2', '23')),
    day: fc.constantFrom('* * *', '* * *', '*/2 * *', '* * 0', '* * sat', 'L * *'),
  });
  const minute = 60_000;
  const days = 2;
  const readings = new Map<string, number>();

  it('no time is missed, none is added, and they come in order', () => {
    fc.assert(
      fc.property(fc.constantFrom(...zones), crons, fc.nat(24 * 60), ([time_zone, from], parts, skew) => {
        const cron = `${parts.minute} ${parts.hour} ${parts.day}`;
        const start = ms(from) + skew * minute;
        const end = start + days * 24 * 60 * minute;

        const expected = slowTimes(cron, time_zone, start, end);

        const times = read({ cron, time_zone });
        const found = nextTimes(times, start, expected.length + 1).filter((time) => time <= end);
        expect(found).toEqual(expected);
      }),
      { numRuns: 60 },
    );
  }, 60_000);

  function slowTimes(text: string, timeZone: string, start: number, end: number): number[] {
    const outcome = readCron(text);
    if (outcome.kind === 'bad') throw new Error(outcome.message);
    const { nextWall } = outcome.cron;
    const format = new Intl.DateTimeFormat('sv-SE', { timeZone, dateStyle: 'short', timeStyle: 'medium' });
    const reading = (at: number) => {
      const key = `${timeZone} ${at}`;
      const read = readings.get(key) ?? ms(`${format.format(at).replace(' ', 'T')}Z`);
      readings.set(key, read);
      return read;
    };
    const byTheHour = text.split(' ')[1] === '*';
    const times: number[] = [];
    // Starts a day earlier, to know the readings already shown.
    let shown = reading(start - 24 * 60 * minute);
    for (let at = start - 24 * 60 * minute + minute; at <= end; at += minute) {
      const now = reading(at);
      const due = nextWall(byTheHour ? now - minute : shown);
      if (due !== undefined && due <= now && (!byTheHour || due === now) && at > start) times.push(at);
      shown = Math.max(shown, now);
    }
    return times;
  }
});
