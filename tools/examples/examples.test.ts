import type { StepRunView } from '@svc/contract';
import { weighCrate } from './handlers';
import { exampleIds } from './read-examples';
import { useExamples } from './use-examples.testing';

jest.setTimeout(90_000);

/** The built product with a worker; tests the guarantees of examples/README.md. */
describe('runs of the workflow examples', () => {
  const use = useExamples();

  describe('linear', () => {
    it('passes the output of each step to the next', async () => {
      const run = await use.done('linear', { crate: 'tea', rush: true });

      const euro = weighCrate('tea') * 2 + 10;
      expect(run).toMatchObject({ status: 'succeeded', output: { printed: `tea: ${euro} EUR`, colour: 'red' } });
    });

    it('applies defaults to missing input, and rejects input that violates its schema', async () => {
      const run = await use.done('linear', { crate: 'tea' });
      expect([run.status, run.output]).toEqual([
        'succeeded',
        { printed: `tea: ${weighCrate('tea') * 2} EUR`, colour: 'white' },
      ]);

      expect(await use.start('linear', { crate: '' })).toMatchObject({
        status: 400,
        body: { code: 'input_schema_validation_failed' },
      });
    });
  });

  it('fan-out: each of 1,000 crates is weighed once, at most 64 at a time, and the last step counts them', async () => {
    const crates = Array.from({ length: 1_000 }, (_, index) => `crate ${index}`);

    const { status, output, steps } = await use.done('fan-out', { crates });

    const weights = crates.map(weighCrate);
    expect([status, output]).toEqual(['succeeded', { crates: 1_000, heavy: weights.filter((kg) => kg > 50).length }]);
    expect(steps['weigh']?.output).toEqual(weights);
    const items = Object.values(steps['weigh']?.children ?? {}) as StepRunView[];
    expect(new Set(items.map(({ job_id: job }) => job)).size).toBe(1_000);
    expect(items.filter((item) => item.status !== 'succeeded' || item.attempts !== 1)).toEqual([]);
    expect(maxConcurrency(items)).toBeLessThanOrEqual(64);
  });

  describe('approval', () => {
    const atGate = async () => {
      const id = await use.begin('approval', { ship: 'Marguerite', euro: 5_000 });
      const gate = `${id}:board@1`;
      await use.untilOpen(gate);
      return { id, gate };
    };

    it('a small booking needs no approval', async () => {
      const run = await use.done('approval', { ship: 'Marguerite', euro: 900 });

      expect(run).toMatchObject({ status: 'succeeded', output: { booked: 'berth for Marguerite' } });
      expect(run.steps['board']).toMatchObject({ status: 'cancelled', skip_reason: 'switch_branch_not_taken' });
      expect((await use.jobs(run.id)).map(({ topic }) => topic)).toEqual(['job.demo.book']);
    });

    it('a large booking needs two approvers, and the starter of the run is not one of them', async () => {
      const { id, gate } = await atGate();

      expect((await use.decide('approve', gate, 'operator')).body).toMatchObject({ code: 'self_approval_denied' });
      expect((await use.decide('approve', gate, 'admin')).body).toMatchObject({ approvals: 1, approvals_needed: 2 });
      expect((await use.decide('approve', gate, 'admin')).body).toMatchObject({ status: 'already_approved' });
      expect((await use.run(id)).steps['board']?.status).toBe('waiting');
      expect((await use.decide('approve', gate, 'approver')).status).toBe(200);

      const run = await use.ended(id);
      expect(run).toMatchObject({ status: 'succeeded', output: { booked: 'berth for Marguerite' } });
      expect(run.steps['board']?.output).toMatchObject({ approved: true, resolved_by: 'local-approver' });
      expect(await use.timeline(id)).toEqual(expect.arrayContaining(['step_waiting board', 'step_approved board']));
    });

    it('after a rejection a notification is sent, nothing is booked, and the run succeeds', async () => {
      const { id, gate } = await atGate();

      await use.decide('reject', gate, 'approver');

      const { status, steps } = await use.ended(id);
      expect([status, steps['board']?.status, steps['refused']?.status]).toEqual(['succeeded', 'denied', 'succeeded']);
      expect(steps).toMatchObject({ board: { error: { message: 'seen' } }, book: { status: 'skipped' } });
      expect(await use.timeline(id)).toEqual(
        expect.arrayContaining(['step_rejected board', 'step_event_emitted refused']),
      );
    });
  });

  describe('loop', () => {
    it('ends when the ship is level', async () => {
      const run = await use.done('loop', { tilt: 10 });

      expect([run.status, run.output]).toEqual(['succeeded', { rounds: 4, tilt: 0.625 }]);
      const jobs = (await use.jobs(run.id)).map(({ id }) => id.slice(run.id.length));
      expect(jobs).toEqual([':stow@1', ':stow@2', ':stow@3', ':stow@4']);
    });

    it('fails after five iterations when it is not', async () => {
      const run = await use.done('loop', { tilt: 1_000 });

      expect(run).toMatchObject({ status: 'failed', error: { code: 'loop_cap_reached' } });
      expect(run.steps).toMatchObject({ stow: { output: { tilt: 31.25 } }, report: { status: 'skipped' } });
      expect((await use.timeline(run.id)).filter((event) => event === 'step_loop_iteration level')).toHaveLength(5);
    });
  });

  describe('saga', () => {
    const undoing = async (id: string) => (await use.jobs(id)).filter(({ topic }) => topic === 'job.demo.unbook');

    it('with a successful payment no step is compensated', async () => {
      const run = await use.done('saga', { euro: 5_000 });

      expect([run.status, run.output]).toEqual(['succeeded', { paid: 5_000 }]);
      expect(await undoing(run.id)).toEqual([]);
    });

    it('after a failed payment each booking is compensated once, newest first', async () => {
      const run = await use.done('saga', { euro: 5_001 });

      expect(run).toMatchObject({ status: 'failed', error: { message: 'step pay: 5001 EUR exceeds the balance' } });
      expect(run.steps['pay']).toMatchObject({ status: 'failed', attempts: 1 });
      const events = await use.timeline(run.id);
      const undone = ['crew', 'crane', 'ship'].map((step) => `step_compensation_started ${step}`);
      expect(events.filter((event) => event.startsWith('step_compensation'))).toEqual(undone);
      const jobs = await undoing(run.id);
      expect(jobs.map(({ state }) => state)).toEqual(['SUCCEEDED', 'SUCCEEDED', 'SUCCEEDED']);
      const results = await Promise.all(jobs.map(async ({ id }) => (await use.job(id))['result']));
      expect(results).toEqual([{ undone: 'crew' }, { undone: 'crane' }, { undone: 'ship' }]);
    });
  });

  it('sub-workflow: returns the outputs of two parallel runs of another workflow', async () => {
    const run = await use.done('sub-workflow');

    const { left, right } = run.steps;
    const passed = (container: string) => ({ container, passed: weighCrate(container) < 90 });
    expect([run.status, run.output]).toEqual(['succeeded', { left: passed('A1'), right: { ...passed('B22'), run: right?.child_run_id } }]); // prettier-ignore
    for (const [step, container] of [[left, 'A1'], [right, 'B22']] as const) {
      const child = await use.run(step?.child_run_id ?? '');
      expect(child).toMatchObject({ status: 'succeeded', input: { container }, metadata: { parent_run_id: run.id } });
    } // prettier-ignore
  });

  it('timer: continues after two seconds, not before', async () => {
    const run = await use.done('timer');

    const { started_at: from = '', completed_at: to = '' } = run.steps['dry'] ?? {};
    expect([run.status, run.output]).toEqual(['succeeded', { booked: 'crane' }]);
    expect(Date.parse(to) - Date.parse(from)).toBeGreaterThanOrEqual(2_000);
    expect(await use.timeline(run.id)).toEqual(
      expect.arrayContaining(['step_delay_started dry', 'step_delay_completed dry']),
    );
  });

  it('signal: waits for an external signal, and reads its payload', async () => {
    const id = await use.begin('signal');
    await use.untilWaits(id, 'customs');

    expect((await use.signal(id, 'departed', {})).body).toMatchObject({ delivered: false });
    expect((await use.signal(id, 'cleared', { officer: 'Ann' })).body).toMatchObject({ delivered: true });

    const run = await use.ended(id);
    expect(run).toMatchObject({ status: 'succeeded', output: { printed: 'cleared by Ann' } });
    expect(run.steps['hold']?.status).toBe('skipped');
  });

  it('chat: a message of a person resumes the step, and a message of an agent does not', async () => {
    const id = await use.begin('chat');
    await use.untilWaits(id, 'answer');

    await use.say(id, { content: 'which berth?', role: 'agent' });
    expect((await use.run(id)).steps['answer']?.status).toBe('waiting');
    await use.say(id, { content: 'berth 7' });

    expect(await use.ended(id)).toMatchObject({ status: 'succeeded', output: { booked: 'crane to berth 7' } });
  });

  it('gated: two approvals, then the parallel steps, then the delay', async () => {
    const id = await use.begin('gated', { ship: 'Marguerite', crates: ['tea', 'silk'] });
    const gate = `${id}:board@1`;
    await use.untilOpen(gate);
    for (const who of ['admin', 'approver'] as const) await use.decide('approve', gate, who);

    const run = await use.ended(id);

    const output = {
      ship: 'Marguerite',
      kg: [weighCrate('tea'), weighCrate('silk')],
      inspected: weighCrate('tea') < 90,
    };
    expect([run.status, run.output]).toEqual(['succeeded', output]);
  });

  it('every example was run', () => {
    expect(use.started()).toEqual(exampleIds);
  });
});

/** Maximum number of concurrent items. */
function maxConcurrency(items: readonly StepRunView[]): number {
  const ends = items.map(({ completed_at: at = '' }) => ({ at: Date.parse(at), change: -1 }));
  const starts = items.map(({ started_at: at = '' }) => ({ at: Date.parse(at), change: 1 }));
  // Within one millisecond ends count before starts.
  const moments = [...ends, ...starts].sort((a, b) => a.at - b.at || a.change - b.change);
  let now = 0;
  return Math.max(...moments.map(({ change }) => (now += change)));
}
