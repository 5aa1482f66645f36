import type { StepDefinition } from '../definition/workflow';
import { Driver, type DriverOptions } from '../planner/driver.testing';

const started = (steps: Record<string, StepDefinition>, options: DriverOptions = {}): Driver => {
  const driver = new Driver(steps, options);
  driver.start();
  return driver;
};

describe('job', () => {
  it('dispatches the job of its definition, with the attempt in the id', () => {
    const run = started(
      { ask: { type: 'llm', input: { q: '${input.q}' }, timeout_sec: 5 } },
      { input: { q: [1], priority: 'CRITICAL' } },
    );

    expect(run.asked('dispatchJob')).toEqual([
      { kind: 'dispatchJob', id: 'r1:ask@1', jobId: 'r1:ask@1', step: 'ask', path: 'ask', attempt: 1, topic: 'job.llm', input: { q: [1] }, priority: 'CRITICAL', timeoutMs: 5_000 }, // prettier-ignore
    ]);
    expect(run.at('ask')).toMatchObject({ status: 'running', job_id: 'r1:ask@1', attempts: 1 });
  });

  it.each([
    ['critical', 'CRITICAL'],
    ['Interactive', 'INTERACTIVE'],
    ['batch', 'BATCH'],
    ['urgent', 'BATCH'],
    [7, 'BATCH'],
    [undefined, 'BATCH'],
  ])('an input that names the priority %j makes %s jobs', (priority, expected) => {
    const run = started({ ask: {} }, { input: { priority } });

    expect(run.asked('dispatchJob')).toMatchObject([{ priority: expected }]);
  });

  it('without an input it gets the whole input of the run, and by default the topic of the workflow', () => {
    const run = started({ work: {} }, { input: { a: 1 } });

    expect(run.asked('dispatchJob')).toMatchObject([{ topic: 'job.workflow.harbour', input: { a: 1 } }]);
  });

  it('is not dispatched when its input is invalid, its templates fail, or its author denies it', () => {
    const checkSchema = (_: unknown, which: string) => (which === 'input' ? 'a is missing' : undefined);

    expect(started({ a: {} }, { checkSchema }).at('a')?.error).toEqual({
      message: 'a is missing',
      code: 'step_input_invalid',
    });
    expect(started({ a: { input: { x: '${1 / 0}' } } }).at('a')?.error?.code).toBe('step_input_invalid');
    const denied = started({ a: { policy_gate: 'deny' } });
    expect([denied.run.status, denied.dispatched]).toEqual(['denied', []]);
  });

  it('keeps the selected part of the result, if it is valid', () => {
    const checkSchema = (_: unknown, which: string, value: unknown) =>
      which === 'output' && value !== 3 ? 'not three' : undefined;
    const steps = { a: { result_data_path: 'deep.n', output_path: 'n' } };

    const good = started(steps, { checkSchema });
    good.job('a', 'SUCCEEDED', { output: { deep: { n: 3 } } });
    const wrong = started(steps, { checkSchema });
    wrong.job('a', 'SUCCEEDED', { output: { deep: { n: 4 } } });

    expect(good.run).toMatchObject({ status: 'succeeded', output: 3, context: { n: 3 } });
    expect(wrong.run).toMatchObject({ status: 'failed', error: { code: 'step_output_invalid' } });
  });

  it('returns its mock output in a dry run', () => {
    const run = started({ a: { mock_output: { n: 1 } } }, { run: { dry_run: true } });

    expect([run.run.status, run.run.output, run.dispatched]).toEqual(['succeeded', { n: 1 }, []]);
  });
});

describe('approval', () => {
  const gate = (rule: StepDefinition['gate'], rest: StepDefinition = {}) =>
    started({ ask: { type: 'approval', ...(rule && { gate: rule }), ...rest } }, { run: { triggered_by: 'tom' } });

  it('waits, and returns the approver', () => {
    const run = gate(undefined);
    expect([run.run.status, run.asked('openGate')[0]?.jobId]).toEqual(['waiting', 'r1:ask@1']);

    run.gate('ask', true);

    expect(run.run).toMatchObject({ status: 'succeeded', output: { approved: true, resolved_by: 'ann' } });
    expect(run.asked('closeGate')).toMatchObject([{ jobId: 'r1:ask@1', approved: true }]);
  });

  it('a rejection denies the run; the job record may report either decision as well', () => {
    const refused = gate(undefined);
    refused.gate('ask', false);
    const byJob = gate(undefined);
    byJob.job('ask', 'DENIED');
    const approvedByJob = gate(undefined);
    approvedByJob.job('ask', 'SUCCEEDED');

    expect(refused.run).toMatchObject({ status: 'denied', error: { code: 'approval_rejected' } });
    expect([byJob.run.status, byJob.asked('closeGate')]).toEqual(['denied', []]);
    expect(approvedByJob.run.status).toBe('succeeded');
  });

  it('with a quorum needs different people', () => {
    const run = gate({ quorum: 2 });

    run.gate('ask', true, 'ann');
    run.gate('ask', true, 'ann');
    expect(run.run.status).toBe('waiting');
    run.gate('ask', true, 'bob');

    expect(run.run.status).toBe('succeeded');
  });

  it('expires as its rule says', () => {
    const ends = (on_expiry?: 'approve' | 'reject' | 'escalate') => {
      const run = gate({ expires_sec: 60, escalate_to: 'boss', ...(on_expiry && { on_expiry }) });
      run.fire('expire');
      return run;
    };

    expect([ends('approve').run.status, ends('reject').run.status, ends().run.status]).toEqual([
      'succeeded',
      'denied',
      'denied',
    ]);
    expect(ends('reject').asked('closeGate')).toMatchObject([{ jobId: 'r1:ask@1', approved: false }]);
    const escalated = ends('escalate');
    expect([escalated.run.status, escalated.asked('escalateGate')]).toMatchObject(['waiting', [{ role: 'boss' }]]);
  });

  it('reminds repeatedly, and escalates after a while', () => {
    const run = gate({ remind_sec: 60, escalate_after_sec: 100, escalate_to: 'boss' });

    run.fire('remind1');
    run.fire('remind2');
    run.fire('escalate');

    expect(run.asked('remindGate').map(({ id }) => id)).toEqual(['remind1:r1:ask@1', 'remind2:r1:ask@1']);
    expect(run.at('ask')?.gate).toMatchObject({ reminders: 2, escalated_to: 'boss' });
    run.gate('ask', true);
    expect(run.asked('clearTimer').map(({ timerId }) => timerId)).toContain('r1:ask@1#remind3');
  });
});

describe('a gate in a loop', () => {
  it('ignores a response of an earlier round', () => {
    const run = started({
      again: { type: 'loop', input: { body_step: 'ask', max_iterations: 2 } },
      ask: { type: 'approval' },
    });
    run.gate('ask', true);

    run.send({ kind: 'gateResolved', jobId: 'r1:ask@1', approved: false });

    expect(run.at('ask')).toMatchObject({ status: 'waiting', attempts: 2 });
  });
});

describe('signal', () => {
  it('waits for its name; an early signal is kept, and a duplicate counts once', () => {
    const run = started({
      first: { type: 'signal', signal: 'go' },
      second: { type: 'signal', depends_on: ['first'], signal: 'go' },
    });
    expect(run.run.status).toBe('waiting');

    run.send({ kind: 'signal', name: 'other', payload: 0 });
    run.send({ kind: 'signal', name: 'go', payload: 1, id: 'x' });
    run.send({ kind: 'signal', name: 'go', payload: 1, id: 'x' });
    expect(run.statuses).toEqual({ first: 'succeeded', second: 'waiting' });
    run.send({ kind: 'signal', name: 'go', payload: 2, id: 'y' });

    expect(run.run).toMatchObject({ status: 'succeeded', output: 2 });
  });

  it('sent early, is taken by the first waiting step', () => {
    const run = started({ nap: { type: 'delay', delay_sec: 1 }, go: { type: 'signal', depends_on: ['nap'] } });

    run.send({ kind: 'signal', name: 'go', payload: { n: 1 } });
    run.fire('delay');

    expect(run.run.output).toEqual({ n: 1 });
  });

  it('times out', () => {
    const run = started({ go: { type: 'signal', timeout_sec: 5 } });

    run.fire('timeout');

    expect(run.run.status).toBe('timed_out');
  });
});

describe('subworkflow', () => {
  const sub = (rest: StepDefinition = {}, options: DriverOptions = {}) =>
    started(
      { sub: { type: 'subworkflow', input: { workflow_id: 'berth', input_mapping: { n: '${input.n}' }, ...rest.input }, ...(rest.retry && { retry: rest.retry }) } }, // prettier-ignore
      { input: { n: 2 }, ...options },
    );

  it('starts a child under its own key, and maps its output', () => {
    const run = sub({ input: { output_mapping: { twice: '${child.output * 2}', of: '${subworkflow.workflow_id}' } } });
    expect(run.asked('startChild')).toMatchObject([
      { key: 'sub:r1:sub:1', workflowId: 'berth', input: { n: 2 }, callStack: ['harbour'] },
    ]);

    run.child('succeeded', 21);

    expect(run.run.output).toEqual({ twice: 42, of: 'berth' });
  });

  it('fails with its child, after its retries', () => {
    const run = sub({ retry: { max_retries: 1 } });

    run.child('failed');
    run.fire('retry');
    run.send({ kind: 'childRunEnded', key: 'sub:r1:sub:1', childRunId: 'c1', status: 'succeeded' });
    expect(run.asked('startChild').map(({ key }) => key)).toEqual(['sub:r1:sub:1', 'sub:r1:sub:2']);
    run.child('failed');

    expect(run.run.status).toBe('failed');
  });

  it('cannot contain itself, or nest too deeply', () => {
    expect(sub({}, { run: { call_stack: ['berth'] } }).at('sub')?.error?.code).toBe('subworkflow_cycle');
    const deep = Array.from({ length: 10 }, (_, i) => `w${i}`);
    expect(sub({}, { run: { call_stack: deep } }).at('sub')?.error?.code).toBe('subworkflow_depth');
  });

  it('is cancelled with its run', () => {
    const run = sub();
    run.send({ kind: 'childStarted', key: 'sub:r1:sub:1', childRunId: 'c9' });

    run.send({ kind: 'cancel' });

    expect(run.asked('cancelChild')).toMatchObject([{ key: 'sub:r1:sub:1', childRunId: 'c9' }]);
    expect(run.run.status).toBe('cancelled');
  });
});
