import { Abort } from './abort';
import { JobAborted } from './errors';

const cancelled = new JobAborted('cancelled', 'no more');
const never = new Promise<never>(() => undefined);

describe('an abort', () => {
  it.each(['before', 'after'])('reaches a signal that is read %s it, and the first reason counts', (when) => {
    const abort = new Abort();
    const early = when === 'after' ? abort.signal : undefined;

    abort.abort(cancelled);
    abort.abort(new JobAborted('deadline', 'late'));

    expect((early ?? abort.signal).reason).toBe(cancelled);
    expect(abort.signal).toBe(abort.signal);
    expect(() => abort.throwIfAborted()).toThrow('no more');
  });

  it.each(['before', 'after'])(
    'ends the wait for a handler %s its grace began, with the grace of the reason',
    async (when) => {
      const abort = new Abort();
      const reason = new JobAborted('cancelled', 'no more', 1);
      if (when === 'after') abort.abort(reason);
      const end = abort.withinGrace(never, 3_600_000);

      abort.abort(reason);

      await expect(end).rejects.toBe(reason);
    },
  );

  it('leaves the result of a handler that ends within its grace', async () => {
    const abort = new Abort();
    const end = abort.withinGrace(Promise.resolve('done'), 3_600_000);

    abort.abort(cancelled);

    await expect(end).resolves.toBe('done');
  });
});
