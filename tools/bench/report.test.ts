import { atMost, ratioAtLeast, rawLimit, type Measure } from './measure';
import { markdownTable, rounded, table, toResult, type BenchFile } from './report';

const run = async () => 0;
const measures: Measure[] = [
  { name: 'submit', unit: 'jobs/s', limit: rawLimit('express_post'), mark: ratioAtLeast(0.9), run },
  { name: 'roundtrip', unit: 'ms', mark: atMost(4), run },
  { name: 'rss', unit: 'MB', run },
];
const bench: BenchFile = {
  machine: { cpu: 'c', cores: 2, memory_gb: 24, node: 'v20', redis: 'r', nats: 'n', commit: 'c', load: 0 },
  limits: { express_post: 5_000 },
  results: [
    { name: 'submit', value: 4_500, unit: 'jobs/s', limit: 5_000, ratio: 0.9, isMet: true },
    { name: 'roundtrip', value: 4.2, unit: 'ms', limit: null, ratio: null, isMet: false },
    { name: 'rss', value: 80, unit: 'MB', limit: null, ratio: null, isMet: null },
  ],
};

describe('the table', () => {
  it('shows each result with its limit, its target and whether the target is met', () => {
    expect(
      table(measures, bench)
        .split('\n')
        .map((line) => line.split(/ {2,}/)),
    ).toEqual([
      ['name', 'value', 'unit', 'limit', 'ratio', 'target'],
      ['submit', '4,500', 'jobs/s', '5,000 express_post', '0.90', 'ratio ≥ 0.9', 'met'],
      ['roundtrip', '4.2', 'ms', '≤ 4', 'missed'],
      ['rss', '80', 'MB'],
    ]);
  });

  it('is the same in Markdown', () => {
    expect(markdownTable(measures, bench).split('\n')[2]).toBe(
      '| submit | 4,500 | jobs/s | 5,000 express_post | 0.90 | ratio ≥ 0.9 | met |',
    );
  });
});

describe('toResult', () => {
  const submit: Measure = { name: 'submit', unit: 'jobs/s', mark: ratioAtLeast(0.9), run };

  it.each([
    [8_999.6, 10_000, 0.9, false],
    [9_000, 10_000, 0.9, true],
    [9_000.4, 10_000, 0.9, true],
  ])('compares %d of %d before rounding to a ratio of %d: %s', (value, limit, ratio, isMet) => {
    expect(toResult(submit, value, limit)).toMatchObject({ ratio, isMet });
  });

  it('compares a value before rounding', () => {
    const latency: Measure = { name: 'roundtrip', unit: 'ms', mark: atMost(4), run };

    expect(toResult(latency, 4.0004, undefined)).toMatchObject({ value: 4, limit: null, ratio: null, isMet: false });
  });

  it('has no verdict without a target', () => {
    expect(toResult({ name: 'rss', unit: 'MB', run }, 80, undefined).isMet).toBeNull();
  });
});

describe('rounded', () => {
  it.each([
    [12_345.6, 12_350],
    [123.456, 123.5],
    [3.14159, 3.14],
    [0, 0],
  ])('makes %d %d', (value, shown) => {
    expect(rounded(value)).toBe(shown);
  });
});
