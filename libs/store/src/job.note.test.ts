import type { JobRecord } from './index';
import { useRuns } from './run.testing';

describe('a note', () => {
  const use = useRuns();
  const noted = (id: string, guard: Record<string, string>, fields: Partial<JobRecord>) =>
    use.store.jobs.note(id, { states: ['PENDING'], guard, post: '{"kind":"event"}' }, fields);
  const postedEvents = async () => (await use.inbox('r1')).filter(({ kind }) => kind === 'event');

  beforeEach(async () => {
    await use.begin('r1');
    await use.accept('r1:ask@1', 'r1', 'ask');
  });

  it('is written once by concurrent writers, and the run is notified once', async () => {
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, i) =>
        noted('r1:ask@1', { progress_message: '' }, { progress_message: `answer ${i}` }),
      ),
    );

    expect(answers.filter((isNoted) => isNoted)).toHaveLength(1);
    expect((await use.store.jobs.load('r1:ask@1'))?.progress_message).toBe(`answer ${answers.indexOf(true)}`);
    expect(await postedEvents()).toHaveLength(1);
  });

  it('that is stale notifies no run', async () => {
    await use.store.jobs.move('*', 'r1:ask@1', 'cancel');

    expect(await noted('r1:ask@1', {}, { progress_message: 'late' })).toBe(false);
    expect(await noted('missing', {}, { progress_message: 'late' })).toBe(false);
    expect(await postedEvents()).toEqual([]);
  });

  it('on a job without a run is written', async () => {
    await use.store.jobs.accept({
      id: 'alone',
      tenant: 'acme',
      traceId: 't',
      topic: 'job.default',
      fields: { submitter: 's' },
      context: '{}',
      priority: 10,
      activeLimit: 0,
    });

    expect(await noted('alone', { progress_message: '' }, { progress_message: 'here' })).toBe(true);
    expect((await use.store.jobs.load('alone'))?.progress_message).toBe('here');
  });
});
