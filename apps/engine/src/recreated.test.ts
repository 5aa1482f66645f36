import { useEngine } from './use-engine.testing';

const use = useEngine();

describe('a workflow that was deleted and recreated', () => {
  it('runs its new definition, although the revision number is the same', async () => {
    await use.start();
    const says = (text: string) => ({ say: { type: 'transform' as const, input: { text } } });
    const first = await use.ended(await use.submitRun(says('old'), {}, { id: 'again' }), 'succeeded');
    await use.store.runs.remove('*', first.id);
    await use.store.workflows.remove('*', 'again', 1);
    await use.store.redis.del('{s0}:wf:def:again');

    const second = await use.ended(await use.submitRun(says('new'), {}, { id: 'again' }), 'succeeded');

    expect([first.workflow_revision, second.workflow_revision]).toEqual([1, 1]);
    expect(second.output).toEqual({ text: 'new' });
  });
});
