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

describe('a history', () => {
  it.each<[string, Operation<Input, Output>[]]>([
    ['of nothing', []],
    ['of one after the other', [write(1, 0, 1), read(1, 2, 3)]],
    ['whose read sees a write that had not returned', [write(1, 0, 10), read(1, 2, 3)]],
    ['whose read does not see a write that had not returned', [write(1, 0, 10), read(0, 2, 3)]],
    ['whose reads see two writes, one after the other', [write(1, 0, 10), write(2, 0, 10), read(2, 1, 2), read(1, 3, 4)]],
    ['of the same moment, either way', [write(1, 0, 5), read(0, 5, 6)]],
    ['whose write was never answered, and is seen late', [lost(1, 0), read(0, 1, 2), read(1, 3, 4)]],
    ['whose write was never answered, and never seen', [lost(1, 0), read(0, 1, 2), read(0, 3, 4)]],
    ['that needs a step back to be explained', [write(1, 0, 100), write(2, 0, 100), write(3, 0, 100), read(3, 0, 100), read(1, 0, 100), read(2, 0, 100)]],
  ])('%s is explained', (_, history) => {
    expect(isFine(...history)).toBe(true);
  }); // prettier-ignore

  it.each<[string, Operation<Input, Output>[]]>([
    ['whose read misses a write that had returned', [write(1, 0, 1), read(0, 2, 3)]],
    ['whose read sees what nobody wrote', [write(1, 0, 1), read(2, 2, 3)]],
    ['whose read sees a write that was not called yet', [read(1, 0, 1), write(1, 2, 3)]],
    ['whose reads see two writes in both orders', [write(1, 0, 9), write(2, 0, 9), read(1, 10, 11), read(2, 12, 13)]],
    ['whose reads go back to what was there before', [write(1, 0, 10), read(1, 1, 2), read(0, 3, 4)]],
    ['whose unanswered write is seen, and not seen after that', [lost(1, 0), read(1, 1, 2), read(0, 3, 4)]],
  ])('%s is not', (_, history) => {
    expect(isFine(...history)).toBe(false);
  });

  it('that is not explained names the answer that nothing explains, and what comes before it', () => {
    const found = linearized([write(1, 0, 1), read(1, 2, 3), write(2, 4, 5), read(1, 6, 7)], register);

    expect(found).toMatchObject({ ok: false, inexplicable: read(1, 6, 7) });
    expect(!found.ok && found.explained.map(({ input }) => input)).toEqual([{ write: 1 }, 'read', { write: 2 }]);
  });

  it('agrees with trying every order', () => {
    const operation = fc.tuple(fc.boolean(), fc.integer({ min: 0, max: 2 }), fc.nat(12), fc.nat(6)).map(([isRead, value, at, took]) => (isRead ? read(value, at, at + took) : write(value, at, at + took))); // prettier-ignore

    fc.assert(
      fc.property(fc.array(operation, { maxLength: 6 }), (history) => {
        expect(linearized(history, register).ok).toBe(orders(history).some(explains));
      }),
      fuzzed(500),
    );
  });

  it('of a thousand operations that many make at once is explained without trying every order', () => {
    let value = 0;
    const history = Array.from({ length: 1_000 }, (_, i): Operation<Input, Output> => {
      const [calledMs, returnedMs] = [i - (i % 4), i - (i % 4) + 3];
      return i % 3 === 0 ? write((value = i), calledMs, returnedMs) : read(value, calledMs, returnedMs);
    });

    expect(isFine(...history)).toBe(true);
    expect(isFine(...history, read(1, 2_000, 2_001))).toBe(false);
  });

  it('is noted as each client saw it, and a call that failed as one nobody answered', async () => {
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

/** Every order in which none comes before one that had returned when it was called. */
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
