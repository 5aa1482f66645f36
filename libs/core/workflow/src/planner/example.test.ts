import { harbourIntake } from '../definition/definition.testing';
import type { StepDefinition } from '../definition/workflow';
import { Driver } from './driver.testing';

/** An example workflow, as parsed from YAML. */
const steps = harbourIntake.steps as Record<string, StepDefinition>;

const harbour = (crates: number, rush: boolean) => {
  const input = { manifest_id: 'M7', crates: Array.from({ length: crates }, (_, kg) => ({ kg })), rush };
  const driver = new Driver(steps, { input, definition: { timeout_sec: 7_200 } });
  driver.start();
  return driver;
};

describe('the harbour example', () => {
  it('rush: weighs four at a time, waits for approval, stows the released crates', () => {
    const run = harbour(6, true);
    expect(run.dispatched).toEqual(['weigh[0]', 'weigh[1]', 'weigh[2]', 'weigh[3]']);

    for (let i = 0; i < 6; i++) run.job(`weigh[${i}]`, 'SUCCEEDED', { output: i * 10 });
    expect(run.dispatched).toHaveLength(6);
    expect(run.asked('openGate')[0]?.input).toEqual({ question: 'Release 6 crates early?', manifest: 'M7' });
    expect([run.run.status, run.statuses['settle']]).toEqual(['waiting', 'cancelled']);

    run.gate('harbourmaster', true);
    expect(run.run.status).toBe('running');
    expect(run.asked('dispatchJob').at(-1)).toMatchObject({
      topic: 'job.cargo.stow',
      input: { totals: { crate_count: 6, label: 'manifest M7' } },
      timeoutMs: 600_000,
    });

    run.job('stow', 'SUCCEEDED', { output: { bay: { number: 12 } } });
    expect([run.run.status, run.run.output]).toEqual(['succeeded', 12]);
    expect(run.statuses['hold_note']).toBe('skipped');
  });

  it('rejected: the note is sent, nothing is stowed, and the run succeeds', () => {
    const run = harbour(1, true);
    run.job('weigh[0]');

    run.gate('harbourmaster', false);

    expect(run.asked('notify')[0]?.alert).toMatchObject({ level: 'warning', message: 'Early release refused: M7' });
    expect(run.at('stow')).toMatchObject({ status: 'skipped', skip_reason: 'condition_false' });
    expect(run.run.status).toBe('succeeded');
  });

  it('no rush: waits fifteen minutes, then stows', () => {
    const run = harbour(0, false);
    expect(run.asked('setTimer').at(-1)).toMatchObject({ timerId: 'r1:settle@1#delay', atMs: run.nowMs + 900_000 });
    expect(run.run.status).toBe('running');

    run.fire('delay');

    expect(run.dispatched).toEqual(['stow']);
    run.job('stow', 'SUCCEEDED', { output: { bay: {} } });
    expect(run.run).toMatchObject({ status: 'failed', error: { code: 'result_data_path' } });
  });

  it('a crate that cannot be weighed is retried twice with growing backoff, and then fails the run', () => {
    const run = harbour(2, false);

    run.job('weigh[1]', 'FAILED', { error: 'scale broken' });
    expect(run.at('weigh[1]')).toMatchObject({ status: 'pending', next_attempt_at_ms: run.nowMs + 2_000 });
    run.fire('retry');
    run.job('weigh[1]', 'TIMEOUT');
    expect(run.at('weigh[1]')?.next_attempt_at_ms).toBe(run.nowMs + 4_000);
    run.fire('retry');
    run.job('weigh[1]', 'FAILED', { error: 'scale broken' });

    expect(run.asked('cancelJob').map(({ jobId }) => jobId)).toEqual(['r1:weigh[0]@1']);
    expect(run.run.status).toBe('running');
    run.job('weigh[0]', 'CANCELLED');
    expect(run.run).toMatchObject({ status: 'failed', error: { message: 'step weigh: weigh[1]: scale broken' } });
    expect(run.at('tally')).toMatchObject({ status: 'skipped', skip_reason: 'dependency_failed:weigh' });
    expect(run.asked('finished')).toHaveLength(1);
  });
});
