import type { ExplainView, RunWait } from '@svc/contract';
import {
  newRun,
  plan,
  timerParts,
  type RunEvent,
  type RunState,
  type StepDefinition,
  type WorkflowDefinition,
} from '@svc/workflow';
import { explainJob } from './explain-job';
import { explainRun } from './explain-run';
import type { JobFacts } from './job-facts';
import { at, factsWith, nowMs, runningWith, waitingWith, worker } from './job-facts.testing';
import type { RunExplainContext, StepJob } from './run-facts';

/** Builds a run with the planner from events, with its timers and jobs. */
class RunFixture {
  readonly definition: WorkflowDefinition;
  run: RunState = newRun({ id: 'r1', workflow_id: 'harbour', org_id: 'acme', input: {} }, nowMs);
  private readonly timers = new Map<string, number>();
  private readonly jobs = new Map<string, StepJob>();

  constructor(steps: Record<string, StepDefinition>, rest: Partial<WorkflowDefinition> = {}) {
    this.definition = { id: 'harbour', org_id: 'acme', name: 'Harbour', timeout_sec: 0, steps, ...rest };
  }

  after(...events: RunEvent[]): this {
    for (const event of events) {
      const { run, actions } = plan({ definition: this.definition, run: this.run, event, nowMs, random: () => 0.5 });
      this.run = run;
      for (const action of actions) {
        if (action.kind !== 'setTimer') continue;
        const { of, purpose } = timerParts(action.timerId) ?? { purpose: '' };
        this.timers.set(`${of?.path ?? ''}#${purpose}`, action.atMs);
      }
    }
    return this;
  }

  withJob(id: string, facts: JobFacts): this {
    const safety = facts.job.safety;
    this.jobs.set(id, { ...explainJob(facts), job_id: id, ...(safety && { decision: safety }) });
    return this;
  }

  explain(context: Partial<RunExplainContext> = {}): ExplainView {
    return explainRun(this.definition, this.run, this.jobs, {
      nowMs,
      position: { entry: 'asleep', isPaused: false, inbox: 0 },
      hasEngine: true,
      maxParallelSteps: 10,
      runStarter: 'deny_policy_holds',
      timers: this.timers,
      ...context,
    });
  }
}

const start: RunEvent = { kind: 'start' };
const ended = (path: string, status: 'SUCCEEDED' | 'FAILED' | 'CANCELLED', attempt = 1): RunEvent => ({
  kind: 'jobEnded',
  jobId: `r1:${path}@${attempt}`,
  status,
  ...(status === 'FAILED' && { error: 'scale broken' }),
});
const signedUp = new RunFixture({ weigh: { topic: 'job.work' }, stow: { topic: 'job.work', depends_on: ['weigh'] } });
const asleep = { entry: 'asleep', isPaused: false, inbox: 0 } as const;

describe('a run is explained by the first thing that blocks it', () => {
  const weigh: StepDefinition = { topic: 'job.work' };
  const cases: [RunWait['kind'], string, () => ExplainView, Partial<RunWait>, RegExp][] = [
    ['engine', 'no engine runs', () => new RunFixture({ weigh }).explain({ position: { ...asleep, entry: 'due', inbox: 1 }, hasEngine: false }), { owner: { kind: 'service', id: 'engine' }, clears_at: null }, /no engine runs/],
    ['engine', 'the queue of runs is paused', () => new RunFixture({ weigh }).explain({ position: { ...asleep, entry: 'due', isPaused: true } }), { owner: { kind: 'queue', id: 'workflow-passes', value: 'paused' } }, /paused/],
    ['engine', 'it has no queue entry', () => new RunFixture({ weigh }).after(start).explain({ position: { ...asleep, entry: 'lost' } }), {}, /no queue entry/],
    ['engine', 'its entry failed', () => new RunFixture({ weigh }).after(start).explain({ position: { ...asleep, entry: 'failed' } }), {}, /failed for good/],
    ['engine', 'its last pass was incomplete', () => new RunFixture({ weigh }).after(start).explain({ position: { ...asleep, entry: 'delayed', dueMs: nowMs + 1_000 } }), { next_try_at: at(1) }, /failed and will be retried/],
    ['job', 'its job is blocked', () => new RunFixture({ weigh }).after(start).withJob('r1:weigh@1', waitingWith({ facts: { workers: [worker({ active: 2 })] } })).explain(), { step_id: 'weigh', job_id: 'r1:weigh@1', job_state: 'PENDING', job_blocked_by: 'workers_full', owner: { kind: 'pool', id: 'main', value: 2 } }, /slots in use/],
    ['job', 'its job is not submitted', () => new RunFixture({ weigh }).after(start).explain(), { job_id: 'r1:weigh@1' }, /still to be submitted/],
    ['approval', 'a gate is open', () => new RunFixture({ sign: { type: 'approval', gate: { quorum: 2, expires_sec: 60 } } }).after(start, { kind: 'gateResolved', jobId: 'r1:sign@1', approved: true, by: 'ann' }).explain(), { step_id: 'sign', job_id: 'r1:sign@1', owner: { kind: 'gate', id: 'sign', value: 2 }, clears_at: null, how: expect.stringContaining(`at ${at(60)} it expires: reject`) as string }, /1 of 2 approvals/],
    ['approval', 'a gate is open that clears by itself', () => new RunFixture({ sign: { type: 'approval', gate: { expires_sec: 60, on_expiry: 'approve' } } }).after(start).explain(), { clears_at: at(60) }, /0 of 1/],
    ['signal', 'it waits for a signal', () => new RunFixture({ tide: { type: 'signal', signal: 'high', timeout_sec: 30 } }).after(start).explain(), { step_id: 'tide', owner: { kind: 'step', id: 'tide.signal', value: 'high' }, how: `POST /api/v1/workflow-runs/r1/signals/high, or it times out at ${at(30)}` }, /signal high/],
    ['timer', 'it waits for a time', () => new RunFixture({ rest: { type: 'delay', delay_sec: 90 } }).after(start).explain(), { step_id: 'rest', owner: { kind: 'step', id: 'rest.delay_sec', value: 90 }, clears_at: at(90) }, /it waits until/],
    ['retry', 'it waits for a retry', () => new RunFixture({ weigh: { ...weigh, retry: { max_retries: 2, initial_backoff_sec: 8 } } }).after(start, ended('weigh', 'FAILED')).explain(), { step_id: 'weigh', owner: { kind: 'step', id: 'weigh.retry', value: 8 }, clears_at: at(8) }, /attempt 2: scale broken/],
    ['slot', 'too many of its jobs are live', () => { const given = new RunFixture({ a: weigh, b: weigh }); given.run = plan({ definition: given.definition, run: given.run, event: start, nowMs, random: () => 0.5, limits: { maxParallelSteps: 1 } }).run; return given.withJob('r1:a@1', runningWith()).explain({ maxParallelSteps: 1 }); }, { step_id: 'b', owner: { kind: 'setting', id: 'resources.max_parallel_steps', value: 1 } }, /1 jobs of the run are live/],
    ['cancel', 'a cancelled job has not stopped', () => new RunFixture({ a: weigh, b: weigh }).after(start, ended('a', 'FAILED')).explain(), { step_id: 'b', job_id: 'r1:b@1', clears_at: at(30) }, /was cancelled and has not stopped yet.*ends failed/],
    ['compensation', 'a step is being compensated', () => new RunFixture({ a: { ...weigh, compensation: { topic: 'job.undo' } }, b: { ...weigh, depends_on: ['a'] } }).after(start, ended('a', 'SUCCEEDED'), ended('b', 'FAILED')).explain(), { step_id: 'a', owner: { kind: 'step', id: 'a.compensation' } }, /a is being compensated/],
  ]; // prettier-ignore

  it.each(cases)('%s: %s', (kind, _, explain, wanted, what) => {
    const explained = explain();

    expect(explained.blocked_by).toMatchObject({ kind, under_way: false, ...wanted });
    expect(explained.blocked_by?.what).toMatch(what);
    expect(explained.summary).toContain(explained.blocked_by?.what);
    const blocks = explained.checks.filter(({ outcome }) => outcome === 'blocks');
    expect(blocks).toMatchObject([{ detail: explained.blocked_by?.what, owner: explained.blocked_by?.owner }]);
  });

  it('names an item of a fan-out that waits for a retry, while the others continue', () => {
    const crates: StepDefinition = {
      topic: 'job.work',
      for_each: '[1, 2]',
      retry: { max_retries: 2, initial_backoff_sec: 8 },
    };
    const given = new RunFixture({ weigh: crates }).after(start, ended('weigh[1]', 'FAILED'));

    const explained = given.withJob('r1:weigh[0]@1', runningWith()).explain();

    expect(explained.blocked_by).toMatchObject({ kind: 'retry', step_id: 'weigh[1]', clears_at: at(8), owner: { id: 'weigh[1].retry', value: 8 } });
    expect(explained.waits.map(({ step_id, under_way }) => [step_id, under_way])).toEqual([['weigh[0]', true], ['weigh[1]', false]]);
    expect(explained.steps[0]).toMatchObject({ status: 'running', why: '2 of its items or child steps have begun: 2 live, 0 succeeded, 0 failed' });
  }); // prettier-ignore
});

describe('a run that nothing blocks', () => {
  it('shows the worker; a step waiting for its dependencies is not a blocker', () => {
    const explained = signedUp.after(start).withJob('r1:weigh@1', runningWith()).explain();

    expect(explained.blocked_by).toBeNull();
    expect(explained.summary).toMatch(/^It is in progress: weigh: It has been running on w1/);
    expect(explained.waits).toMatchObject([
      { kind: 'job', step_id: 'weigh', under_way: true, owner: { kind: 'worker', id: 'w1' } },
      { kind: 'dependency', step_id: 'stow', steps: ['weigh'] },
    ]);
    expect(explained.steps[1]?.depends_on).toEqual([{ step_id: 'weigh', status: 'running', satisfied: false }]);
    expect(explained.checks.map(({ outcome }) => outcome)).not.toContain('would_block');
  });

  it('shows the engine that holds its lock, and that it was queued before', () => {
    const given = new RunFixture({ weigh: {} });

    const worked = given.explain({ position: { ...asleep, entry: 'due', lock: { owner: 'e1:a', leftMs: 4_000 } } });
    const inLine = given.explain({ position: { ...asleep, entry: 'due' } });

    expect(worked.waits).toMatchObject([{ kind: 'lock', owner: { kind: 'lock', id: 'e1:a' }, clears_at: at(4) }]);
    expect(inLine).toMatchObject({ blocked_by: null, waits: [{ kind: 'engine', under_way: true }] });
  });

  it('links to the child run that a step started', () => {
    const child: StepDefinition = { type: 'subworkflow', input: { workflow_id: 'other' } };
    const given = new RunFixture({ call: child }).after(start);
    const before = given.explain();

    const after = given.after({ kind: 'childStarted', key: 'sub:r1:call:1', childRunId: 'c1' }).explain();

    expect(before.blocked_by).toMatchObject({ kind: 'child_run', owner: { kind: 'service', id: 'engine' } });
    expect(after).toMatchObject({ blocked_by: null, waits: [{ child_run_id: 'c1', under_way: true }] });
    expect(after.waits[0]?.how).toContain('/workflow-runs/c1/explain');
  });

  it('shows when it times out, and by which setting', () => {
    const own = new RunFixture({ weigh: {} }, { timeout_sec: 50 }).after(start).explain();

    expect(own.gives_up).toEqual({ at: at(50), as: 'timed_out', owner: { kind: 'run', id: 'timeout_sec', value: 50 } });
    expect(signedUp.explain().gives_up).toBeNull();
  });
});

describe('an ended run', () => {
  it('names the step that failed it, and why each step ended', () => {
    const given = new RunFixture({
      weigh: { topic: 'job.work' },
      stow: { topic: 'job.work', depends_on: ['weigh'] },
      note: { type: 'notify', condition: 'false', input: { message: 'x' } },
    }).after(start, ended('weigh', 'FAILED'));

    const explained = given.explain();

    expect(explained).toMatchObject({
      status: 'failed',
      blocked_by: null,
      waits: [],
      gives_up: null,
      failed_step: 'weigh',
    });
    expect(explained.ended_by).toMatchObject({
      owner: { kind: 'step', id: 'weigh' },
      what: 'step weigh: scale broken',
    });
    expect(explained.steps.map(({ why }) => why)).toEqual([
      'scale broken',
      'weigh, which it depends on, failed',
      'its condition did not hold',
    ]);
  });

  it('shows that a caller cancelled it, and the policy rules of its jobs', () => {
    const rule = { decision: 'ALLOW', rule_id: 'the-rule', checked_at: 1, source: 'scheduler' } as const;
    const job = factsWith({ job: { state: 'CANCELLED', safety: rule } });
    const given = new RunFixture({ weigh: {} }).after(start, { kind: 'cancel', by: 'ann' }).withJob('r1:weigh@1', job);

    const explained = given.explain();

    expect(explained.ended_by).toMatchObject({
      code: 'cancelled',
      owner: { kind: 'caller' },
      what: 'cancelled by ann',
    });
    expect(explained.steps[0]).toMatchObject({ rule_id: 'the-rule', decision: 'ALLOW', status: 'cancelled' });
  });

  it('that succeeded has no failed step', () => {
    const explained = new RunFixture({ weigh: {} }).after(start, ended('weigh', 'SUCCEEDED')).explain();

    expect(explained).toMatchObject({ summary: 'It ended succeeded.', ended_by: { code: 'succeeded' } });
    expect(explained).not.toHaveProperty('failed_step');
  });
});

it('counts waits beyond a hundred without listing them', () => {
  const items: StepDefinition = { type: 'signal', for_each: `[${Array.from({ length: 104 }, (_, i) => i).join(',')}]`, max_parallel: 104, signal: 'x' }; // prettier-ignore

  const explained = new RunFixture({ many: items }).after(start).explain();

  expect([explained.waits.length, explained.more_waits]).toEqual([100, 4]);
});
