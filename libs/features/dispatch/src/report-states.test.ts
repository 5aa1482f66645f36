import { ReportStates } from './report-states';

describe('the state of jobs that report', () => {
  const states = () => new ReportStates({ nowMs: () => 0 });
  const read = (all: ReportStates, sender: string) => {
    let tail = '';
    return all.inOrder([sender, 'j1', 'd1'], (state) => ((tail = state.tail), Promise.resolve(true))).then(() => tail);
  };
  const write = (all: ReportStates, sender: string, job: string, isHolder: boolean) =>
    all.inOrder([sender, job, 'd1'], (state) => ((state.tail += 'x'), Promise.resolve(isHolder)));

  it('is kept from report to report of the worker that holds the job, in order', async () => {
    const all = states();

    await Promise.all([write(all, 'w1', 'j1', true), write(all, 'w1', 'j1', true)]);

    expect(await read(all, 'w1')).toBe('xx');
  });

  it('is not displaced, read or changed by workers that name jobs of others', async () => {
    const all = states();
    await write(all, 'w1', 'j1', true);

    await write(all, 'w2', 'j1', false);
    await Promise.all(Array.from({ length: 10_001 }, (_, i) => write(all, 'w2', `j${i}`, false)));

    expect([await read(all, 'w1'), await read(all, 'w2')]).toEqual(['x', '']);
  });

  it('a report that fails does not stop the next one', async () => {
    const all = states();

    await expect(all.inOrder(['w1', 'j1', 'd1'], () => Promise.reject(new Error('no store')))).rejects.toThrow(
      'no store',
    );

    expect(await write(all, 'w1', 'j1', true)).toBe(true);
  });
});
