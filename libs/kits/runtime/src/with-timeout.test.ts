import { withTimeout } from './with-timeout';

describe('withTimeout', () => {
  const never = new Promise<never>(() => undefined);

  it('settles with the result of the work', async () => {
    await expect(withTimeout(Promise.resolve(1), 60_000)).resolves.toBe(1);
    await expect(withTimeout(Promise.reject(new Error('no')), 60_000)).rejects.toThrow('no');
  });

  it('rejects at the limit, with the caller’s error if there is one', async () => {
    await expect(withTimeout(never, 1)).rejects.toThrow('no answer within 1 ms');
    await expect(withTimeout(never, 1, () => new RangeError('late'))).rejects.toThrow(RangeError);
  });

  it('ignores work that fails after the limit', async () => {
    let fail = (_error: Error) => undefined as void;
    const work = new Promise<never>((_resolve, reject) => void (fail = reject));
    await expect(withTimeout(work, 1)).rejects.toThrow('no answer');
    fail(new Error('later'));
    await expect(work).rejects.toThrow('later');
  });
});
