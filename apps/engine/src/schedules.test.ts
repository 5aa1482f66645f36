import { addSchedule, pauseSchedule } from '@svc/workflows';
import { eventually, person } from '@svc/testing';
import { giveAgent } from '@svc/fixtures/store';
import { useEngine } from './use-engine.testing';

const use = useEngine();
const hour = 3_600_000;
const ann = person('ann');
const steps = { notice: { type: 'notify', input: { message: 'hello' } } };

/** A workflow that starts every second. */
async function everySecond(given: object = steps, agentId?: string): Promise<string> {
  const { store } = use.engine.ctx;
  const document = { id: 'cargo', name: 'Cargo', org_id: 'acme', steps: given };
  await store.workflows.write({ tenant: 'acme', id: 'cargo', document, by: 'ann' });
  const fields = {
    name: '',
    time_zone: 'UTC',
    overlap: 'allow',
    misfire: 'run_all',
    input: {},
    paused: false,
  } as const;
  const { id } = await addSchedule(use.engine.ctx, ann, 'cargo', { ...fields, interval_sec: 1 }, agentId);
  return id;
}
const runs = () => use.engine.ctx.store.runIndex.ofWorkflow('acme', 'cargo', 100);
/** Due times of the started runs, in order. */
const times = async () => {
  const states = await Promise.all((await runs()).map(({ id }) => use.state(id)));
  return states.map(({ labels = {} }) => labels['scheduled_for'] ?? '').sort();
};
/** Asserts that every second occurs exactly once. */
const areWhole = (all: string[]) =>
  expect(all.map((time) => Date.parse(time))).toEqual(all.map((_, i) => Date.parse(all[0] ?? '') + i * 1_000));

describe('a schedule', () => {
  it('starts one run per due time, with any number of engines', async () => {
    await use.start();
    await use.start();
    const id = await everySecond();

    await eventually(async () => (await runs()).filter(({ status }) => status === 'succeeded').length >= 3);
    await pauseSchedule(use.engine.ctx, ann, 'cargo', id);

    areWhole(await times());
    const [{ id: runId = '' } = {}] = await runs();
    expect((await use.state(runId)).triggered_by).toBe('ann');
  });

  it.each([
    ['ahead', hour],
    ['behind', -hour],
  ])('keeps its due times when the clock of the only engine is an hour %s', async (_, byMs) => {
    const real = Date.now;
    jest.spyOn(Date, 'now').mockImplementation(() => real() + byMs);
    try {
      await use.start({ aheadMs: 0 });
      const id = await everySecond();
      const begunMs = await use.engine.ctx.store.schedules.nowMs();

      await eventually(async () => (await runs()).length >= 3, { withinMs: 20_000 });
      await pauseSchedule(use.engine.ctx, ann, 'cargo', id);

      const all = await times();
      areWhole(all);
      expect(Math.abs(Date.parse(all[0] ?? '') - begunMs)).toBeLessThan(5_000);
    } finally {
      jest.restoreAllMocks();
    }
  });

  it('of an agent starts runs of that agent, within its scope, until it is suspended', async () => {
    await use.start();
    const agent = await giveAgent(use.store, { allowed_topics: ['job.one'] });
    const given = { one: { topic: 'job.one' }, two: { topic: 'job.two', depends_on: ['one'] } };
    const id = await everySecond(given, agent.id);

    const ended = await eventually(async () => {
      const [{ id: runId = '' } = {}] = (await runs()).filter(({ status }) => status === 'failed');
      return use.state(runId);
    });
    await agent.change({ status: 'suspended' });
    await eventually(async () => {
      const read = await use.store.schedules.read(id);
      expect(read?.record.last_error).toMatch(/agent_inactive/);
    });
    const started = (await runs()).length;
    const { record } = (await use.store.schedules.read(id)) ?? {};
    await eventually(async () => expect((await use.store.schedules.read(id))?.record.dueMs).not.toBe(record?.dueMs));

    expect(ended.metadata).toMatchObject({ agent_id: agent.id });
    const { steps: done } = ended;
    expect([done['one']?.status, done['two']?.error]).toMatchObject(['succeeded', { code: 'agent_denied' }]);
    expect(await runs()).toHaveLength(started);
  }, 30_000);

  it('that was due while no engine was running is caught up', async () => {
    const first = await use.start();
    const id = await everySecond();
    await use.stop(first);
    const second = await use.start();

    await eventually(async () => (await second.ctx.store.runIndex.ofWorkflow('acme', 'cargo', 100)).length >= 3);
    await pauseSchedule(second.ctx, ann, 'cargo', id);

    areWhole(await times());
  });
});
