import fc from 'fast-check';
import { fuzzed } from './fuzz';
import { History, linearized, type Model, type Operation } from './linearizable';

type Input = { write: number } | 'read';
type Output = number | 'written';
const register: Model<number, Input, Output> = {
  begin: 0,
  step(state, input, output) {
    if (input === 'read') return output === undefined || output === state ? state : undefined;
    return input.write;
  },
  key: String,
};
const write = (value: number, calledMs: number, returnedMs: number): Operation<Input, Output> => {
  return { input: { write: value }, output: 'written', calledMs, returnedMs };
};
const lost = (value: number, calledMs: number): Operation<Input, Output> => {
  return { input: { write: value }, output: undefined, calledMs, returnedMs: calledMs };
};
const read = (output: number, calledMs: number, returnedMs: number): Operation<Input, Output> => {
  return { input: 'read', output, calledMs, returnedMs };
};
const isFine = (...history: Operation<Input, Output>[]) => linearized(history, register).ok;

describe('linearized', () => {
  it.each<[string, Operation<Input, Output>[]]>([
    ['that is empty', []],
    ['of sequential operations', [write(1, 0, 1), read(1, 2, 3)]],
    ['whose read sees a write that had not returned', [write(1, 0, 10), read(1, 2, 3)]],
    ['whose read does not see a write that had not returned', [write(1, 0, 10), read(0, 2, 3)]],
    ['whose reads see two writes, one after the other', [write(1, 0, 10), write(2, 0, 10), read(2, 1, 2), read(1, 3, 4)]],
    ['of operations at the same time, in either order', [write(1, 0, 5), read(0, 5, 6)]],
    ['whose lost write is seen late', [lost(1, 0), read(0, 1, 2), read(1, 3, 4)]],
    ['whose lost write is never seen', [lost(1, 0), read(0, 1, 2), read(0, 3, 4)]],
    ['that requires backtracking', [write(1, 0, 100), write(2, 0, 100), write(3, 0, 100), read(3, 0, 100), read(1, 0, 100), read(2, 0, 100)]],
  ])('a history %s is linearizable', (_, history) => {
    expect(isFine(...history)).toBe(true);
  }); // prettier-ignore

  it.each<[string, Operation<Input, Output>[]]>([
    ['whose read misses a write that had returned', [write(1, 0, 1), read(0, 2, 3)]],
    ['whose read sees a value that was never written', [write(1, 0, 1), read(2, 2, 3)]],
    ['whose read sees a write that was not called yet', [read(1, 0, 1), write(1, 2, 3)]],
    ['whose reads see two writes in both orders', [write(1, 0, 9), write(2, 0, 9), read(1, 10, 11), read(2, 12, 13)]],
    ['whose reads return to an earlier value', [write(1, 0, 10), read(1, 1, 2), read(0, 3, 4)]],
    ['whose lost write is seen, and not seen after that', [lost(1, 0), read(1, 1, 2), read(0, 3, 4)]],
  ])('a history %s is not linearizable', (_, history) => {
    expect(isFine(...history)).toBe(false);
  });

  it('returns the operation that no order explains, and the order before it', () => {
    const found = linearized([write(1, 0, 1), read(1, 2, 3), write(2, 4, 5), read(1, 6, 7)], register);

    expect(found).toMatchObject({ ok: false, inexplicable: read(1, 6, 7) });
    expect(!found.ok && found.explained.map(({ input }) => input)).toEqual([{ write: 1 }, 'read', { write: 2 }]);
  });

  it('agrees with an exhaustive search', () => {
    const operation = fc.tuple(fc.boolean(), fc.integer({ min: 0, max: 2 }), fc.nat(12), fc.nat(6)).map(([isRead, value, at, took]) => (isRead ? read(value, at, at + took) : write(value, at, at + took))); // prettier-ignore

    fc.assert(
      fc.property(fc.array(operation, { maxLength: 6 }), (history) => {
        expect(linearized(history, register).ok).toBe(orders(history).some(explains));
      }),
      fuzzed(500),
    );
  });

  it('checks a thousand concurrent operations without an exhaustive search', () => {
    let value = 0;
    const history = Array.from({ length: 1_000 }, (_, i): Operation<Input, Output> => {
      const [calledMs, returnedMs] = [i - (i % 4), i - (i % 4) + 3];
      return i % 3 === 0 ? write((value = i), calledMs, returnedMs) : read(value, calledMs, returnedMs);
    });

    expect(isFine(...history)).toBe(true);
    expect(isFine(...history, read(1, 2_000, 2_001))).toBe(false);
  });

  it('History records the output of each call, and undefined for a call that failed', async () => {
    const history = new History<Input, Output>();

    await Promise.allSettled([
      history.call({ write: 1 }, () => Promise.resolve('written' as const)),
      history.call({ write: 2 }, () => Promise.reject(new Error('the connection ended'))),
    ]);
    await history.call('read', () => Promise.resolve(2));

    expect(history.operations.map(({ output }) => output)).toEqual(['written', undefined, 2]);
    expect(linearized(history.operations, register)).toEqual({ ok: true });
  });
});

/** Every order that respects real time: an operation follows those that returned before it was called. */
function orders(history: readonly Operation<Input, Output>[]): Operation<Input, Output>[][] {
  if (history.length === 0) return [[]];
  return history.flatMap((first) => {
    const rest = history.filter((each) => each !== first);
    const isPossible = rest.every(({ returnedMs }) => returnedMs >= first.calledMs);
    return isPossible ? orders(rest).map((order) => [first, ...order]) : [];
  });
}

function explains(order: readonly Operation<Input, Output>[]): boolean {
  let value = 0;
  return order.every(({ input, output }) => {
    if (input === 'read') return output === value;
    value = input.write;
    return true;
  });
}
