import { pick, sample, seeded } from './seeded';

const row = (seed: number) => {
  const random = seeded(seed);
  return Array.from({ length: 1_000 }, () => random());
};

it('yields the same sequence for the same seed, another for another seed, spread from 0 to 1', () => {
  expect(row(7)).toEqual(row(7));
  expect(row(7)).not.toEqual(row(8));
  expect(Math.min(...row(7))).toBeLessThan(0.02);
  expect(Math.max(...row(7))).toBeGreaterThan(0.98);
  expect(Math.max(...row(7))).toBeLessThan(1);
});

it('picks every item eventually', () => {
  const random = seeded(1);

  expect(new Set(Array.from({ length: 50 }, () => pick(['a', 'b', 'c'], random)))).toEqual(new Set(['a', 'b', 'c']));
});

it('samples without repetition, in order, at most all items', () => {
  const items = [1, 2, 3, 4, 5, 6, 7, 8];
  const some = sample(items, 3, seeded(3));

  expect(some).toHaveLength(3);
  expect(some).toEqual([...new Set(some)].sort());
  expect(sample(items, 99, seeded(3))).toEqual(items);
});
