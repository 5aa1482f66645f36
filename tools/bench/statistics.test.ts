import { median, percentile } from './statistics';

describe('percentile', () => {
  const samples = Array.from({ length: 100 }, (_, i) => 100 - i);

  it('is the value that this share of the samples do not exceed', () => {
    expect([percentile(samples, 0.99), percentile(samples, 0.5), percentile(samples, 1)]).toEqual([99, 50, 100]);
  });

  it('sorts by number, not by digits', () => {
    expect(percentile([9, 10, 100], 0.5)).toBe(10);
  });

  it('of one sample is that sample; without samples it throws', () => {
    expect(percentile([7], 0.01)).toBe(7);
    expect(() => percentile([], 0.5)).toThrow(RangeError);
  });

  it('does not reorder the samples', () => {
    const mixed = [3, 1, 2];

    expect(median(mixed)).toBe(2);
    expect(mixed).toEqual([3, 1, 2]);
  });
});
