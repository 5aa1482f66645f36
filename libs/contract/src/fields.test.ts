import Joi from 'joi';
import { after, before, cursor, flag, pageLimit, stringMap, submitTopic, toMicros } from './fields';

const read = (schema: Joi.Schema, value?: unknown): unknown =>
  (Joi.object({ field: schema }).validate(value === undefined ? {} : { field: value }).value as { field?: unknown })
    .field;

describe('toMicros', () => {
  it.each([
    ['seconds', 1_700_000_000, 1_700_000_000_000_000, 999_999],
    ['milliseconds', 1_700_000_000_123, 1_700_000_000_123_000, 999],
    ['microseconds', 1_700_000_000_123_456, 1_700_000_000_123_456, 0],
    ['the last second', 999_999_999_999, 999_999_999_999_000_000, 999_999],
    ['the first millisecond', 1e12, 1e15, 999],
    ['the first microsecond', 1e15, 1e15, 0],
  ])('%s', (_unit, given, us, span) => {
    expect(toMicros(given, false)).toBe(us);
    expect(toMicros(given, true)).toBe(us + span);
  });

  it('nanoseconds are truncated to microseconds', () => {
    expect(toMicros(1e18, false)).toBe(1e15);
    expect(toMicros(1_700_000_000_123_456_000, true)).toBe(1_700_000_000_123_456);
  });
});

describe('times in queries', () => {
  it('a coarse upper bound includes its whole unit, a lower bound starts with it', () => {
    expect(read(cursor, '10')).toBe(10_999_999);
    expect(read(before, '10')).toBe(10_999_999);
    expect(read(after, '10')).toBe(10_000_000);
  });

  it('nanoseconds are exact, although a number cannot hold them', () => {
    const us = 1_795_379_579_014_224;
    const read1000 = Array.from({ length: 1_000 }, (_, i) => read(before, `${us + i}000`));
    expect(read1000).toEqual(Array.from({ length: 1_000 }, (_, i) => us + i));
  });

  it.each(['', 'soon', '0', '-1', '1.5', 'Infinity', 'NaN', '1e', []])('%j is ignored', (value) => {
    expect(read(cursor, value)).toBeUndefined();
  });
});

describe('pageLimit', () => {
  it.each([
    [undefined, 50],
    ['', 50],
    ['many', 50],
    ['7x', 50],
    ['0', 50],
    ['0.9', 50],
    ['-1', 50],
    ['NaN', 50],
    ['1', 1],
    ['7.9', 7],
    ['500', 500],
    ['501', 500],
    ['1e9', 500],
    ['Infinity', 500],
  ])('%j is %s', (value, limit) => {
    expect(read(pageLimit(50), value)).toBe(limit);
  });

  it('a route may allow fewer', () => {
    expect(read(pageLimit(20, 100), '101')).toBe(100);
  });
});

it.each([
  ...['1', 'true', 'TRUE', 'yes', 'Y', 'on'].map((text) => [text, true] as const),
  ...['0', 'false', 'no', '', 'n', '2', 'ja'].map((text) => [text, false] as const),
])('flag %j is %s', (value, read_) => {
  expect(read(flag(!read_), value)).toBe(read_);
});

it('a missing flag has the default of the route', () => {
  expect([read(flag(true)), read(flag(false))]).toEqual([true, false]);
});

describe('submitTopic', () => {
  it.each(['job.a', 'job.A-b_c.d1', 'job.1', `job.${'a'.repeat(252)}`])('%s', (topic) => {
    expect(submitTopic.validate(topic).error).toBeUndefined();
  });

  it.each([
    'job',
    'job.',
    'job..a',
    'job.a.',
    'job.a..b',
    'job.-a',
    'job.a-',
    'job.*',
    'job.a b',
    'Job.a',
    'sys.job.a',
    'job.a\n',
    `job.${'a'.repeat(253)}`,
  ])('not %j', (topic) => {
    expect(submitTopic.validate(topic).error).toBeDefined();
  });
});

it('a string map takes any key, and empty strings', () => {
  expect(stringMap('x').validate({ '': '', 'a.b': 'c', constructor: 'd' }).error).toBeUndefined();
  expect(stringMap('x').validate({ a: 1 }).error).toBeDefined();
});
