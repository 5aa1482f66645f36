import { findRunAgent, rerunRun, startRun } from '@svc/workflows';
import { person } from '@svc/testing';
import { giveAgent } from '@svc/fixtures/store';
import { useEngine } from './use-engine.testing';

const use = useEngine();

describe('a run that an agent starts', () => {
  const [ann, ben] = [person('ann'), person('ben', { role: 'user', allowCrossTenant: false })];
  const acting = () => ({ store: use.store, links: { find: () => Promise.resolve(undefined) } });
  const steps = { one: { topic: 'job.one' }, two: { topic: 'job.two', depends_on: ['one'] } };
  const start = async (agentId: string, given: object = steps) =>
    (await startRun(use.engine.ctx, ann, { workflowId: await use.workflow(given as typeof steps), input: {}, dryRun: false, agentId })).runId;

  it('has jobs of the agent, as have its child runs; a rerun by a person has none', async () => {
    await use.start();
    const { id } = await giveAgent(use.store);
    const child = await use.workflow({ inner: { topic: 'job.inner' } });

    const run = await start(id, { ...steps, sub: { type: 'subworkflow', input: { workflow_id: child, input: {} } } });
    const { steps: done } = await use.ended(run, 'succeeded');

    const jobs = Object.values(done).flatMap(({ job_id }) => (job_id ? [job_id] : []));
    const [inner] = await use.store.runIndex.ofWorkflow('acme', child, 1);
    const innerJob = (await use.state(inner?.id ?? '')).steps['inner']?.job_id ?? '';
    expect(jobs).toHaveLength(2);
    for (const job of [...jobs, innerJob]) {
      const record = await use.store.jobs.load(job);
      expect(record).toMatchObject({ agents: `${id}:1`, request: { agent_id: id, labels: { agent_id: id } } });
    }

    const again = await rerunRun(use.engine.ctx, ann, { runId: run, dryRun: false, requestId: 'r' });
    const job = (await use.ended(again, 'succeeded')).steps['one']?.job_id ?? '';
    expect((await use.store.jobs.load(job))?.request.agent_id).toBeUndefined();
  }, 30_000);

  it('fails at a step whose topic the agent may not use', async () => {
    await use.start();
    const { id } = await giveAgent(use.store, { allowed_topics: ['job.one'] });

    const { steps: ended, status } = await use.ended(await start(id));

    expect([status, ended['one']?.status, ended['two']?.status]).toEqual(['failed', 'succeeded', 'failed']);
    expect(ended['two']?.error).toMatchObject({ code: 'agent_denied' });
    expect(await use.store.agents.denied(id)).toMatchObject([{ sub_reason: 'topic_not_in_allowed_list' }]);
  }, 30_000);

  it('has one refusal of a step, although the engine dies before it saves the end of the step', async () => {
    const { ctx } = await use.start();
    const { id } = await giveAgent(use.store, { allowed_topics: [] });
    const save = ctx.store.runs.save.bind(ctx.store.runs);
    let crashes = 0;
    jest.spyOn(ctx.store.runs, 'save').mockImplementation(async (saved) => {
      const isRefused = (await use.store.agents.denied(id)).length > 0;
      if (isRefused && crashes++ === 0) throw new Error('died');
      return save(saved);
    });

    await use.ended(await start(id, { one: { topic: 'job.one' } }), 'failed');

    expect(crashes).toBeGreaterThan(0);
    expect(await use.store.agents.denied(id)).toHaveLength(1);
    expect(await use.store.agents.figures('acme', id, Date.now())).toMatchObject({ denied: 1 });
  }, 30_000);

  it('starts no further job once the agent is suspended', async () => {
    await use.start();
    const agent = await giveAgent(use.store);
    const run = await start(agent.id, { wait: { type: 'delay', delay_sec: 1 }, one: { topic: 'job.one', depends_on: ['wait'] } });

    await agent.change({ status: 'suspended' });

    expect((await use.ended(run, 'failed')).steps['one']?.error).toMatchObject({ code: 'agent_denied' });
  }, 30_000);

  it('is refused for an agent that is not active, and for one that the caller may not act as', async () => {
    await use.start();
    const agent = await giveAgent(use.store, { owner: 'ann' });

    expect(await findRunAgent(acting(), ann, agent.id)).toBe(agent.id);
    expect(await findRunAgent(acting(), ann, undefined)).toBeUndefined();
    await expect(findRunAgent(acting(), ben, agent.id)).rejects.toMatchObject({ errorCode: 'access_denied' });
    await agent.change({ status: 'suspended' });
    await expect(findRunAgent(acting(), ann, agent.id)).rejects.toMatchObject({ errorCode: 'agent_denied' });
  });
}); // prettier-ignore
