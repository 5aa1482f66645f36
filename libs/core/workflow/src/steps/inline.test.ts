import type { StepDefinition } from '../definition/workflow';
import { Driver, type DriverOptions } from '../planner/driver.testing';

const started = (steps: Record<string, StepDefinition>, options: DriverOptions = {}): Driver => {
  const driver = new Driver(steps, options);
  driver.start();
  return driver;
};

describe('condition', () => {
  it('evaluates to a boolean that other steps read', () => {
    const run = started(
      {
        big: { type: 'condition', condition: 'input.n > 3' },
        then: { depends_on: ['big'], condition: 'steps.big.output' },
      },
      { input: { n: 4 } },
    );

    expect(run.at('big')).toMatchObject({ status: 'succeeded', output: true });
    expect(run.dispatched).toEqual(['then']);
    expect(run.types('big')).toContain('step_condition_evaluated');
  });

  it.each(['', '1 / input.zero'])('fails when it is empty or cannot be evaluated: %p', (condition) => {
    const run = started({ big: { type: 'condition', condition } }, { input: { zero: 0 } });

    expect(run.at('big')).toMatchObject({ status: 'failed', error: { code: 'condition_failed' } });
    expect(run.run.status).toBe('failed');
  });
});

describe('switch', () => {
  const lanes = (cases: unknown, rest: Record<string, unknown> = {}): Record<string, StepDefinition> => ({
    lane: { type: 'switch', condition: 'input.lane', input: { cases, ...rest } },
    left: { type: 'transform', depends_on: ['lane'], input: { went: 'left' } },
    right: { type: 'transform', depends_on: ['lane'], input: { went: 'right' } },
    join: { type: 'transform', depends_on: ['left', 'right'], input: { by: '${steps.left.output.went ?? steps.right.output.went}' } }, // prettier-ignore
  });

  it.each([
    [1, 'left'],
    ['1', 'left'],
    [' two ', 'right'],
    [true, 'left'],
  ])('takes the case that equals %p: %s; the join begins', (lane, went) => {
    const cases = [{ match: '1', next: 'left' }, { when: 'two', step: 'right' }, { value: true, target: 'left' }]; // prettier-ignore
    const run = started(lanes(cases), { input: { lane } });

    const other = went === 'left' ? 'right' : 'left';
    expect(run.at(other)).toMatchObject({ status: 'cancelled', skip_reason: 'switch_branch_not_taken' });
    expect(run.run).toMatchObject({ status: 'succeeded', output: { by: went } });
    expect(run.at('lane')?.output).toMatchObject({ target_step: went });
  });

  it('takes the default when no case matches, and fails without one', () => {
    const withDefault = started(lanes([{ match: 1, next: 'left' }], { default: 'right' }), { input: { lane: 9 } });
    const without = started(lanes([{ match: 1, next: 'left' }]), { input: { lane: 9 } });

    expect(withDefault.statuses).toMatchObject({ left: 'cancelled', right: 'succeeded' });
    expect(without.run.status).toBe('failed');
    expect(without.at('join')?.skip_reason).toBe('dependency_failed:lane');
  });

  it('skips steps that depend only on branches not taken', () => {
    const run = started(
      {
        ...lanes([{ match: 1, next: 'left' }, { match: 2, next: 'right' }]), // prettier-ignore
        after: { type: 'transform', depends_on: ['right'] },
      },
      { input: { lane: 1 } },
    );

    expect(run.at('after')).toMatchObject({ status: 'skipped', settled: 'neutral' });
    expect(run.run.status).toBe('succeeded');
  });
});

describe('delay', () => {
  it.each([
    [{ delay_sec: 5 }, 5_000],
    [{ delay_until: new Date(1_009_000).toISOString() }, 9_000],
    [{ timeout_sec: 7 }, 7_000],
  ])('%j lasts %d ms', (step, ms) => {
    const run = started({ nap: { type: 'delay', ...step } });
    expect(run.asked('setTimer')).toMatchObject([{ timerId: 'r1:nap@1#delay', atMs: 1_000_000 + ms }]);

    run.fire('delay');

    expect(run.run.status).toBe('succeeded');
  });

  it('ends at once for a past time; fails for a missing or invalid time', () => {
    expect(started({ nap: { type: 'delay', delay_until: '1970-01-01T00:00:00Z' } }).run.status).toBe('succeeded');
    expect(started({ nap: { type: 'delay' } }).run.status).toBe('failed');
    expect(started({ nap: { type: 'delay', delay_until: 'soon' } }).at('nap')?.error?.message).toMatch('RFC 3339');
  });
});

describe('notify, transform, storage', () => {
  it('notify publishes its rendered message and succeeds', () => {
    const run = started(
      { notice: { type: 'notify', input: { message: 'hi ${input.who}' } } },
      { input: { who: 'Ann' } },
    );

    expect(run.asked('notify')).toMatchObject([
      { id: 'notify:r1:notice@1', alert: { level: 'info', message: 'hi Ann', trace_id: 'r1' } },
    ]);
    expect(run.run.status).toBe('succeeded');
  });

  it('transform keeps types, and writes its output to output_path', () => {
    const run = started(
      { sum: { type: 'transform', input: { n: '${input.n + 1}', s: 'n=${input.n}' }, output_path: 'ctx.a.b' } },
      { input: { n: 1 } },
    );

    expect(run.run.output).toEqual({ n: 2, s: 'n=1' });
    expect(run.run.context).toEqual({ a: { b: { n: 2, s: 'n=1' } } });
  });

  it('steps that have not ended are not readable', () => {
    const run = started({ slow: {}, look: { type: 'transform', input: { s: '${steps.slow.status}', c: '${ctx.steps.slow}' } } }); // prettier-ignore

    expect(run.at('look')?.output).toEqual({});
  });

  it('storage writes, reads and deletes entries of the context', () => {
    const run = started({
      write: { type: 'storage', input: { operation: 'write', key: 'a.b', value: [1] } },
      read: { type: 'storage', depends_on: ['write'], input: { operation: 'read', key: 'ctx.a.b' } },
      drop: { type: 'storage', depends_on: ['read'], input: { operation: 'delete', key: 'a.b' } },
      gone: { type: 'storage', depends_on: ['drop'], input: { operation: 'read', key: 'a.b' } },
    });

    expect(run.at('read')?.output).toEqual({ operation: 'read', key: 'ctx.a.b', value: [1] });
    expect(run.at('gone')?.status).toBe('failed');
    expect(run.run.context).toEqual({ a: {} });
  });

  it.each([{ operation: 'read' }, { operation: 'burn', key: 'a' }, { operation: 'write', key: 'steps.x', value: 1 }])(
    'storage rejects %j',
    (input) => {
      expect(started({ store: { type: 'storage', input } }).at('store')?.status).toBe('failed');
    },
  );
});

describe('guard', () => {
  it('skips a step whose guard is false, and counts it as done', () => {
    const run = started({ a: { condition: 'input.go' }, b: { depends_on: ['a'] } });

    expect(run.at('a')).toMatchObject({ status: 'skipped', skip_reason: 'condition_false', settled: 'ok' });
    expect(run.dispatched).toEqual(['b']);
  });

  it('fails the step when its guard cannot be evaluated', () => {
    expect(started({ a: { condition: '1 +' } }).at('a')).toMatchObject({
      status: 'failed',
      error: { code: 'condition_failed' },
    });
  });
});
