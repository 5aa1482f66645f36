import { eventually } from '@svc/testing';
import { type Dropped, Lane, type LaneLimits } from './shadow-lane';

jest.setTimeout(20_000);

const roomy: LaneLimits = { atOnce: 3, maxWaiting: 5, maxWeight: 100 };

/** A lane whose work completes when the test says so. */
function lane(limits: Partial<LaneLimits> = {}) {
  const begun: number[] = [];
  const ends = new Map<number, () => void>();
  const dropped: [Dropped, number][] = [];
  const waiting: number[] = [];
  const work = (item: number) => {
    begun.push(item);
    return new Promise<void>((resolve) => ends.set(item, resolve));
  };
  const events = {
    waiting: (count: number) => void waiting.push(count),
    dropped: (reason: Dropped, count: number) => void dropped.push([reason, count]),
  };
  const one = new Lane<number>(work, { ...roomy, ...limits }, events);
  const offer = (items: readonly number[], weight = 1) => items.forEach((item) => one.offer(item, weight));
  const begins = (items: readonly number[]) => eventually(() => expect(begun).toEqual(items));
  return { lane: one, begun, ends, dropped, waiting, offer, begins };
}
const upTo = (count: number) => Array.from({ length: count }, (_, i) => i);

describe('a lane for best-effort work', () => {
  it('starts nothing in the same turn of the event loop', async () => {
    const { offer, begun, begins } = lane();

    offer([1]);

    expect(begun).toEqual([]);
    await begins([1]);
  });

  it('runs up to its concurrency, queues the rest in order, and drops and counts the overflow', async () => {
    const { offer, begins, ends, dropped, waiting } = lane();
    offer(upTo(3));
    await begins([0, 1, 2]);

    offer([3, 4, 5, 6, 7, 8, 9]);

    expect(dropped).toEqual([['queue_full', 1], ['queue_full', 1]]); // prettier-ignore
    expect(Math.max(...waiting)).toBe(5);
    ends.get(1)?.();
    await begins([0, 1, 2, 3]);
    offer([10]);
    expect(dropped).toHaveLength(2);
    for (const item of [0, 2, 3]) ends.get(item)?.();
    await begins([0, 1, 2, 3, 4, 5, 6]);
  });

  it('bounds the total weight of the queue, but accepts a single item of any weight', async () => {
    const { offer, begins, dropped } = lane({ atOnce: 1 });
    offer([0]);
    await begins([0]);

    offer([1], 1_000);
    offer([2], 1);

    expect(dropped).toEqual([['queue_full', 1]]);
  });

  it('the weight of started work is released', async () => {
    const { offer, begins, ends, dropped } = lane({ atOnce: 1 });
    offer([0], 90);
    await begins([0]);
    offer([1], 90);
    ends.get(0)?.();
    await begins([0, 1]);

    offer([2, 3], 50);

    expect(dropped).toEqual([]);
  });

  it('closing completes accepted work and accepts no more', async () => {
    const { lane: one, offer, begins, ends, dropped } = lane({ atOnce: 1 });
    offer([0, 1]);
    await begins([0]);

    const closing = one.close(20_000);
    offer([2]);
    ends.get(0)?.();
    await begins([0, 1]);
    ends.get(1)?.();
    await closing;

    expect(dropped).toEqual([['closed', 1]]);
  });

  it('closing returns at once when idle, and at its timeout when work hangs', async () => {
    await lane().lane.close(1e9);
    const { lane: one, offer, begins, dropped, waiting } = lane({ atOnce: 1 });
    offer([0, 1, 2]);
    await begins([0]);

    await one.close(1);

    expect(dropped).toEqual([['closed', 3]]);
    expect(waiting.at(-1)).toBe(0);
  });
});
