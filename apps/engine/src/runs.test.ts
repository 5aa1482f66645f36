import { RetryableError, type Job } from '@svc/worker-sdk';
import { eventually } from '@svc/testing';
import { decodePacket, type Packet } from '@svc/contract';
import { changeDocument } from '@svc/settings';
import { useEngine } from './use-engine.testing';

let undone: unknown[] = [];
const use = useEngine({
  topics: {
    'job.weigh': ({ context }: Job) => ({ echo: context }),
    'job.number': ({ context }: Job) => (context as { n: number }).n * 2,
    'job.flaky': ({ context }: Job) => {
      const { tries } = context as { tries: number };
      flakes += 1;
      if (flakes <= tries) throw new RetryableError('not yet');
      return { flakes };
    },
    'job.break': () => {
      throw new Error('it broke');
    },
    'job.undo': ({ context }: Job) => void undone.push(context),
    'job.long': ({ signal }: Job) =>
      new Promise((_, reject) => signal.addEventListener('abort', () => reject(new Error('stopped')))),
  },
});
let flakes = 0;
beforeEach(() => {
  flakes = 0;
  undone = [];
});

describe('a run', () => {
  it('of one step succeeds with the output of its job', async () => {
    await use.start();

    const id = await use.submitRun({ weigh: { topic: 'job.weigh', input: { crate: '${input.crate}' } } }, { crate: 7 });

    const run = await use.ended(id, 'succeeded');
    expect(run.output).toEqual({ echo: { crate: 7 } });
    const types = (await use.timeline(id)).map(({ type }) => type);
    expect(types).toEqual(['run_status', 'step_dispatched', 'step_completed', 'run_status']);
    expect(use.engine.defects).toEqual([]);
  });

  it('runs at most the configured number of steps at once, even if its definition allows more', async () => {
    const { ctx } = await use.start();
    const limit = { resources: { max_parallel_steps: 1 } };
    await changeDocument(ctx, { scope: 'org', scope_id: 'acme' }, () => ({ data: limit }));
    ctx.config.changed();
    const config = { resources: { max_parallel_steps: 50 } };
    const id = await use.submitRun({ a: { topic: 'job.long' }, b: { topic: 'job.long' } }, {}, { config });

    const { steps } = await eventually(async () => {
      const run = await use.state(id);
      expect(Object.values(run.steps).map(({ status }) => status)).toContain('running');
      return run;
    });

    expect(Object.values(steps).filter(({ job_id }) => job_id !== undefined)).toHaveLength(1);
  });

  it('runs a step for each item of a list and joins the results', async () => {
    await use.start();
    const steps = {
      weigh: { topic: 'job.number', for_each: 'input.crates', max_parallel: 8, input: { n: '${item}' } },
      sum: { type: 'transform', depends_on: ['weigh'], input: { all: '${steps.weigh.output}' } },
    } as const;
    const crates = Array.from({ length: 100 }, (_, i) => i);

    const run = await use.ended(await use.submitRun({ ...steps, sum: { ...steps.sum, depends_on: ['weigh'] } }, { crates }), 'succeeded'); // prettier-ignore

    expect(run.output).toEqual({ all: crates.map((n) => n * 2) });
  });

  it('retries a step after a backoff', async () => {
    await use.start();

    const id = await use.submitRun({
      a: {
        topic: 'job.flaky',
        input: { tries: 2 },
        retry: { max_retries: 3, initial_backoff_sec: 0.1, multiplier: 1 },
      },
    });

    const run = await use.ended(id, 'succeeded');
    expect(run.output).toEqual({ flakes: 3 });
  });

  it('fails with its step and runs compensations, newest first', async () => {
    await use.start();

    const id = await use.submitRun({
      a: { topic: 'job.weigh', input: { n: 1 }, compensation: { topic: 'job.undo', input: { undo: 'a' } } },
      b: { topic: 'job.weigh', depends_on: ['a'], compensation: { topic: 'job.undo', input: { undo: 'b' } } },
      c: { topic: 'job.break', depends_on: ['b'] },
    });

    const run = await use.ended(id, 'failed');
    expect(run.error?.message).toMatch(/step c/);
    expect(undone).toEqual([{ undo: 'b' }, { undo: 'a' }]);
  });

  it('waits with a durable timer, never less than its duration', async () => {
    await use.start();

    const id = await use.submitRun({
      wait: { type: 'delay', delay_sec: 1 },
      after: { topic: 'job.weigh', depends_on: ['wait'] },
    });

    const run = await use.ended(id, 'succeeded');
    const { started_at_ms = 0, completed_at_ms = 0 } = run.steps['wait'] ?? {};
    expect(completed_at_ms - started_at_ms).toBeGreaterThanOrEqual(1_000);
  });

  it('waits for a signal, and accepts one that arrived early', async () => {
    await use.start();
    const steps = { ready: { type: 'signal' }, then: { type: 'signal', depends_on: ['ready'], signal: 'go' } } as const;
    const id = await use.submitRun({ ready: steps.ready, then: { ...steps.then, depends_on: ['ready'] } });
    await use.step(id, 'ready', 'waiting');

    await use.postEvent(id, { kind: 'signal', name: 'go', payload: { early: true }, id: 's1' });
    await use.postEvent(id, { kind: 'signal', name: 'ready', payload: 1, id: 's2' });

    const run = await use.ended(id, 'succeeded');
    expect(run.output).toEqual({ early: true });
  });

  it('of another workflow is a step and determines its status', async () => {
    await use.start();
    const inner = await use.workflow({ weigh: { topic: 'job.number', input: { n: '${input.n}' } } });

    const id = await use.submitRun(
      {
        sub: { type: 'subworkflow', input: { workflow_id: inner, input_mapping: { n: '${input.n}' } } },
      },
      { n: 21 },
    );

    expect((await use.ended(id, 'succeeded')).output).toBe(42);
  });

  it('whose child cannot be started fails', async () => {
    await use.start();

    const id = await use.submitRun({ sub: { type: 'subworkflow', input: { workflow_id: 'nowhere' } } });

    expect((await use.ended(id, 'failed')).error?.message).toMatch(/there is no workflow nowhere/);
  });

  it('is cancelled together with its open jobs and child runs', async () => {
    await use.start();
    const inner = await use.workflow({ long: { topic: 'job.long' } });
    const id = await use.submitRun({
      long: { topic: 'job.long' },
      sub: { type: 'subworkflow', input: { workflow_id: inner } },
    });
    await use.step(id, 'long', 'running');
    const { steps } = await eventually(async () => {
      const run = await use.state(id);
      const child = run.steps['sub']?.child_run_id ?? '';
      expect((await use.state(child)).steps['long']?.status).toBe('running');
      return run;
    });

    await use.postEvent(id, { kind: 'cancel', by: 'ann' });

    await use.ended(id, 'cancelled');
    await use.ended(steps['sub']?.child_run_id ?? '', 'cancelled');
    expect((await use.store.jobs.load(`${id}:long@1`))?.state).toBe('CANCELLED');
  });

  it('times out', async () => {
    await use.start();

    const id = await use.submitRun({ long: { topic: 'job.long' } }, {}, { timeout_sec: 1 });

    await use.ended(id, 'timed_out');
    await eventually(async () => expect((await use.store.jobs.load(`${id}:long@1`))?.state).toBe('CANCELLED'));
  });

  /** Alerts of `notify` steps as they arrive on the bus. */
  async function tapAlerts(): Promise<Packet[]> {
    const { platform } = use.engine;
    const alerts: Packet[] = [];
    platform.bus.tap('sys.workflow.event', ({ bytes }) => {
      const decoded = decodePacket(bytes);
      if (decoded.kind === 'ok') alerts.push(decoded.packet);
    });
    await platform.bus.flush();
    return alerts;
  }

  it('publishes one alert for a notify step', async () => {
    await use.start();
    const alerts = await tapAlerts();

    const id = await use.submitRun(
      { notice: { type: 'notify', input: { level: 'warning', message: 'crate ${input.n}' } } },
      { n: 3 },
    );

    await use.ended(id, 'succeeded');
    await eventually(() => expect(alerts).toHaveLength(1));
    expect(alerts[0]).toMatchObject({
      kind: 'alert',
      trace_id: id,
      body: { message: 'crate 3', severity: expect.anything() },
    });
  });

  it('publishes component and details of a notify step in the fields of the alert', async () => {
    await use.start();
    const alerts = await tapAlerts();
    const details = { bay: '${input.bay}', crates: [1, 2], full: true, tenant: 'other' };

    const id = await use.submitRun(
      { notice: { type: 'notify', input: { message: 'full', component: 'harbour', details } } },
      { bay: 'b7' },
    );
    const plain = await use.submitRun({ notice: { type: 'notify', input: { message: 'full', details: 'see bay 7' } } });

    for (const run of [id, plain]) await use.ended(run, 'succeeded');
    await eventually(() => expect(alerts).toHaveLength(2));
    const alert = (run: string) => alerts.find(({ trace_id }) => trace_id === run)?.body;
    expect(alert(id)).toMatchObject({ component: 'harbour', source_component: 'harbour' });
    // The platform's own keys win: a definition cannot make an alert look like another tenant's.
    expect(alert(id)).toHaveProperty('details', {
      bay: 'b7',
      crates: '[1,2]',
      full: 'true',
      tenant: 'acme',
      run_id: id,
      workflow_id: (await use.state(id)).workflow_id,
    });
    expect(alert(plain)).toMatchObject({ source_component: 'workflow-engine', details: { details: 'see bay 7' } });
  });
});
