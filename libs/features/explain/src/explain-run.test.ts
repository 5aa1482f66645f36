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
import type { RunAround, StepJob } from './run-facts';

/** A run as the planner leaves it after some events, and what is known beside it. */
class Given {
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

  explain(around: Partial<RunAround> = {}): ExplainView {
    return explainRun(this.definition, this.run, this.jobs, {
      nowMs,
      standing: { entry: 'asleep', isPaused: false, inbox: 0 },
      hasEngine: true,
      maxParallelSteps: 10,
      runStarter: 'deny_policy_holds',
      timers: this.timers,
      ...around,
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
const signedUp = new Given({ weigh: { topic: 'job.work' }, stow: { topic: 'job.work', depends_on: ['weigh'] } });
const asleep = { entry: 'asleep', isPaused: false, inbox: 0 } as const;

describe('a run is explained by the first thing that blocks it', () => {
  const weigh: StepDefinition = { topic: 'job.work' };
  const cases: [RunWait['kind'], string, () => ExplainView, Partial<RunWait>, RegExp][] = [
    ['engine', 'no engine runs', () => new Given({ weigh }).explain({ standing: { ...asleep, entry: 'due', inbox: 1 }, hasEngine: false }), { owner: { kind: 'service', id: 'engine' }, clears_at: null }, /no engine runs/],
    ['engine', 'the queue of runs is paused', () => new Given({ weigh }).explain({ standing: { ...asleep, entry: 'due', isPaused: true } }), { owner: { kind: 'queue', id: 'workflow-passes', value: 'paused' } }, /paused/],
    ['engine', 'no entry brings it to one', () => new Given({ weigh }).after(start).explain({ standing: { ...asleep, entry: 'lost' } }), {}, /no queue entry/],
    ['engine', 'its entry failed', () => new Given({ weigh }).after(start).explain({ standing: { ...asleep, entry: 'failed' } }), {}, /failed for good/],
    ['engine', 'its last pass could not do all', () => new Given({ weigh }).after(start).explain({ standing: { ...asleep, entry: 'delayed', dueMs: nowMs + 1_000 } }), { next_try_at: at(1) }, /could not be done yet/],
    ['job', 'its job is blocked', () => new Given({ weigh }).after(start).withJob('r1:weigh@1', waitingWith({ facts: { workers: [worker({ active: 2 })] } })).explain(), { step_id: 'weigh', job_id: 'r1:weigh@1', job_state: 'PENDING', job_blocked_by: 'workers_full', owner: { kind: 'pool', id: 'main', value: 2 } }, /slots in use/],
    ['job', 'its job is not submitted', () => new Given({ weigh }).after(start).explain(), { job_id: 'r1:weigh@1' }, /still to be submitted/],
    ['approval', 'a gate is open', () => new Given({ sign: { type: 'approval', gate: { quorum: 2, expires_sec: 60 } } }).after(start, { kind: 'gateResolved', jobId: 'r1:sign@1', approved: true, by: 'ann' }).explain(), { step_id: 'sign', job_id: 'r1:sign@1', owner: { kind: 'gate', id: 'sign', value: 2 }, clears_at: null, how: expect.stringContaining(`at ${at(60)} it expires: reject`) as string }, /1 of 2 approvals/],
    ['approval', 'a gate is open that clears by itself', () => new Given({ sign: { type: 'approval', gate: { expires_sec: 60, on_expiry: 'approve' } } }).after(start).explain(), { clears_at: at(60) }, /0 of 1/],
    ['signal', 'it waits for a signal', () => new Given({ tide: { type: 'signal', signal: 'high', timeout_sec: 30 } }).after(start).explain(), { step_id: 'tide', owner: { kind: 'step', id: 'tide.signal', value: 'high' }, how: `POST /api/v1/workflow-runs/r1/signals/high, or it times out at ${at(30)}` }, /signal high/],
    ['timer', 'it waits for a time', () => new Given({ rest: { type: 'delay', delay_sec: 90 } }).after(start).explain(), { step_id: 'rest', owner: { kind: 'step', id: 'rest.delay_sec', value: 90 }, clears_at: at(90) }, /it waits until/],
    ['retry', 'it pauses before another try', () => new Given({ weigh: { ...weigh, retry: { max_retries: 2, initial_backoff_sec: 8 } } }).after(start, ended('weigh', 'FAILED')).explain(), { step_id: 'weigh', owner: { kind: 'step', id: 'weigh.retry', value: 8 }, clears_at: at(8) }, /try 2: scale broken/],
    ['slot', 'too many of its jobs are out', () => { const given = new Given({ a: weigh, b: weigh }); given.run = plan({ definition: given.definition, run: given.run, event: start, nowMs, random: () => 0.5, limits: { maxParallelSteps: 1 } }).run; return given.withJob('r1:a@1', runningWith()).explain({ maxParallelSteps: 1 }); }, { step_id: 'b', owner: { kind: 'setting', id: 'resources.max_parallel_steps', value: 1 } }, /1 jobs of the run are out/],
    ['cancel', 'what was told to stop has not answered', () => new Given({ a: weigh, b: weigh }).after(start, ended('a', 'FAILED')).explain(), { step_id: 'b', job_id: 'r1:b@1', clears_at: at(30) }, /told to stop.*ends failed/],
    ['compensation', 'what was done is being undone', () => new Given({ a: { ...weigh, compensation: { topic: 'job.undo' } }, b: { ...weigh, depends_on: ['a'] } }).after(start, ended('a', 'SUCCEEDED'), ended('b', 'FAILED')).explain(), { step_id: 'a', owner: { kind: 'step', id: 'a.compensation' } }, /what a did is being undone/],
  ]; // prettier-ignore

  it.each(cases)('%s: %s', (kind, _, explain, wanted, what) => {
    const told = explain();

    expect(told.blocked_by).toMatchObject({ kind, under_way: false, ...wanted });
    expect(told.blocked_by?.what).toMatch(what);
    expect(told.summary).toContain(told.blocked_by?.what);
    const blocks = told.checks.filter(({ outcome }) => outcome === 'blocks');
    expect(blocks).toMatchObject([{ detail: told.blocked_by?.what, owner: told.blocked_by?.owner }]);
  });

  it('an item of a fan-out that pauses before another try is named, and the others go on', () => {
    const crates: StepDefinition = {
      topic: 'job.work',
      for_each: '[1, 2]',
      retry: { max_retries: 2, initial_backoff_sec: 8 },
    };
    const given = new Given({ weigh: crates }).after(start, ended('weigh[1]', 'FAILED'));

    const told = given.withJob('r1:weigh[0]@1', runningWith()).explain();

    expect(told.blocked_by).toMatchObject({ kind: 'retry', step_id: 'weigh[1]', clears_at: at(8), owner: { id: 'weigh[1].retry', value: 8 } });
    expect(told.waits.map(({ step_id, under_way }) => [step_id, under_way])).toEqual([['weigh[0]', true], ['weigh[1]', false]]);
    expect(told.steps[0]).toMatchObject({ status: 'running', why: 'of its parts 2 were begun, 2 are under way, 0 succeeded and 0 failed' });
  }); // prettier-ignore
});

describe('a run that nothing blocks', () => {
  it('says who is at it; steps that wait for others are no obstacle', () => {
    const told = signedUp.after(start).withJob('r1:weigh@1', runningWith()).explain();

    expect(told.blocked_by).toBeNull();
    expect(told.summary).toMatch(/^It goes on: weigh: It runs with w1/);
    expect(told.waits).toMatchObject([
      { kind: 'job', step_id: 'weigh', under_way: true, owner: { kind: 'worker', id: 'w1' } },
      { kind: 'dependency', step_id: 'stow', steps: ['weigh'] },
    ]);
    expect(told.steps[1]?.depends_on).toEqual([{ step_id: 'weigh', status: 'running', satisfied: false }]);
    expect(told.checks.map(({ outcome }) => outcome)).not.toContain('would_block');
  });

  it('shows the engine that works on it, and its place in line before', () => {
    const given = new Given({ weigh: {} });

    const worked = given.explain({ standing: { ...asleep, entry: 'due', lock: { owner: 'e1:a', leftMs: 4_000 } } });
    const inLine = given.explain({ standing: { ...asleep, entry: 'due' } });

    expect(worked.waits).toMatchObject([{ kind: 'lock', owner: { kind: 'lock', id: 'e1:a' }, clears_at: at(4) }]);
    expect(inLine).toMatchObject({ blocked_by: null, waits: [{ kind: 'engine', under_way: true }] });
  });

  it('leads on to the run of another workflow that a step started', () => {
    const child: StepDefinition = { type: 'subworkflow', input: { workflow_id: 'other' } };
    const given = new Given({ call: child }).after(start);
    const before = given.explain();

    const after = given.after({ kind: 'childStarted', key: 'sub:r1:call:1', childRunId: 'c1' }).explain();

    expect(before.blocked_by).toMatchObject({ kind: 'child_run', owner: { kind: 'service', id: 'engine' } });
    expect(after).toMatchObject({ blocked_by: null, waits: [{ child_run_id: 'c1', under_way: true }] });
    expect(after.waits[0]?.how).toContain('/workflow-runs/c1/explain');
  });

  it('tells when it gives up, and by which rule', () => {
    const own = new Given({ weigh: {} }, { timeout_sec: 50 }).after(start).explain();

    expect(own.gives_up).toEqual({ at: at(50), as: 'timed_out', owner: { kind: 'run', id: 'timeout_sec', value: 50 } });
    expect(signedUp.explain().gives_up).toBeNull();
  });
});

describe('a run that is over', () => {
  it('names the step that failed it, and why each other one ended', () => {
    const given = new Given({
      weigh: { topic: 'job.work' },
      stow: { topic: 'job.work', depends_on: ['weigh'] },
      note: { type: 'notify', condition: 'false', input: { message: 'x' } },
    }).after(start, ended('weigh', 'FAILED'));

    const told = given.explain();

    expect(told).toMatchObject({ status: 'failed', blocked_by: null, waits: [], gives_up: null, failed_step: 'weigh' });
    expect(told.ended_by).toMatchObject({ owner: { kind: 'step', id: 'weigh' }, what: 'step weigh: scale broken' });
    expect(told.steps.map(({ why }) => why)).toEqual([
      'scale broken',
      'weigh, which it depends on, failed',
      'its condition did not hold',
    ]);
  });

  it('says that a caller cancelled it, and which rules decided about its jobs', () => {
    const rule = { decision: 'ALLOW', rule_id: 'the-rule', checked_at: 1, source: 'scheduler' } as const;
    const job = factsWith({ job: { state: 'CANCELLED', safety: rule } });
    const given = new Given({ weigh: {} }).after(start, { kind: 'cancel', by: 'ann' }).withJob('r1:weigh@1', job);

    const told = given.explain();

    expect(told.ended_by).toMatchObject({ code: 'cancelled', owner: { kind: 'caller' }, what: 'cancelled by ann' });
    expect(told.steps[0]).toMatchObject({ rule_id: 'the-rule', decision: 'ALLOW', status: 'cancelled' });
  });

  it('that succeeded has nothing to add', () => {
    const told = new Given({ weigh: {} }).after(start, ended('weigh', 'SUCCEEDED')).explain();

    expect(told).toMatchObject({ summary: 'It ended succeeded.', ended_by: { code: 'succeeded' } });
    expect(told).not.toHaveProperty('failed_step');
  });
});

it('waits beyond a hundred are counted, not listed', () => {
  const items: StepDefinition = { type: 'signal', for_each: `[${Array.from({ length: 104 }, (_, i) => i).join(',')}]`, max_parallel: 104, signal: 'x' }; // prettier-ignore

  const told = new Given({ many: items }).after(start).explain();

  expect([told.waits.length, told.more_waits]).toEqual([100, 4]);
});
