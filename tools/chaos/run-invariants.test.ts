import type { JobRecord } from '@svc/store';
import { newRun, type RunState, type StepRun, type TimelineEvent } from '@svc/workflow';
import type { Call, History, JobHistory, RunHistory } from './history';
import { violations } from './invariants';
import { runInvariants } from './run-invariants';

/** Runs that went their ordinary way, from which each test breaks one thing. */
type Told = Partial<TimelineEvent> & Pick<TimelineEvent, 'type'>;

const step = (status: StepRun['status'], over: Partial<StepRun> = {}): StepRun => ({
  status,
  attempts: 1,
  tries: 1,
  settled: status === 'succeeded' ? 'ok' : 'bad',
  ...over,
});
const line = (run: string, told: Told, i: number): TimelineEvent => ({
  time_ms: 1_000 + i,
  run_id: run,
  workflow_id: '',
  ...told,
});
const dispatched = (path: string, run = 'r1'): Told => ({
  type: 'step_dispatched',
  step_id: path,
  job_id: `${run}:${path}@1`,
});
const done = (path: string, run = 'r1'): Told => ({
  type: 'step_completed',
  step_id: path,
  status: 'succeeded',
  job_id: `${run}:${path}@1`,
});
const status = (to: string): Told => ({ type: 'run_status', status: to });
const linear: Told[] = [
  status('running'),
  dispatched('weigh'),
  done('weigh'),
  { type: 'step_completed', step_id: 'price', status: 'succeeded' },
  dispatched('label'),
  done('label'),
  status('succeeded'),
];

interface Given {
  id?: string;
  workflow?: string;
  run?: Partial<RunState>;
  steps?: RunState['steps'];
  told?: Told[];
  left?: RunHistory['left'];
  shownAs?: string[];
}

function given({
  id = 'r1',
  workflow = 'chaos-linear',
  run = {},
  steps,
  told = linear,
  left = {},
  shownAs,
}: Given = {}): RunHistory {
  const state: RunState = {
    ...newRun({ id, workflow_id: workflow, org_id: 'acme', input: {}, idempotency_key: 'k1' }, 0),
    status: 'succeeded',
    steps: steps ?? { weigh: step('succeeded'), price: step('succeeded'), label: step('succeeded') },
    ...run,
  };
  return {
    run: state,
    timeline: told.map((event, i) => line(id, event, i)),
    left,
    shownAs: shownAs ?? [state.status === 'succeeded' ? 'completed' : 'failed'],
  };
}

const jobOf = (run: string, over: Partial<JobRecord> = {}): JobHistory => ({
  record: { state: 'SUCCEEDED', run, request: { labels: {} }, ...over } as JobRecord,
  events: [],
  decisions: [],
  deadLetter: undefined,
});
const jobs = (...ids: string[]) => new Map(ids.map((id) => [id, jobOf(id.split(':')[0] ?? '')] as const));
const started: Call = { act: 'start-run', jobId: '', runId: 'r1', key: 'k1', outcome: 'ok', status: 200, code: '' };

const history = (runs: RunHistory[], over: Partial<History> = {}): History => ({
  calls: [started],
  jobs: jobs('r1:weigh@1', 'r1:label@1'),
  runs: new Map(runs.map((of) => [of.run.id, of])),
  outages: [],
  dispatches: [],
  answers: [],
  mayWait: new Set(),
  money: new Map(),
  left: {},
  ...over,
});
const faults = (broken: History) =>
  runInvariants.flatMap((check) => check(broken)).map(({ invariant, text }) => `${invariant} ${text}`);
const faultsOf = (over: Given, more: Partial<History> = {}) => faults(history([given(over)], more));

it('finds nothing in a run that went well, and is asked with the others', () => {
  expect(faultsOf({})).toEqual([]);
  expect(violations(history([given({ shownAs: [] })], { jobs: new Map() }))).not.toEqual([]);
});

describe('I1 nothing lost', () => {
  it('misses a run whose start was answered, and a rerun', () => {
    const rerun: Call = { ...started, act: 'rerun', newRunId: 'r2' };

    expect(faults(history([given()], { calls: [started, rerun] }))).toEqual(['I1 was started and has no record']);
    expect(faults(history([], { jobs: new Map() }))).toEqual(['I1 was started and has no record']);
  });

  it('catches runs that nobody asked for, and lets a rerun be there twice whose answer was lost', () => {
    const rerun: Call = { ...started, act: 'rerun', outcome: 'unknown' };
    const again = (id: string) => {
      const { idempotency_key: _, ...run } = given({ id, told: [status('running'), status('succeeded')] }).run;
      return { ...given({ id, told: [status('running'), status('succeeded')], steps: {} }), run: { ...run, steps: {}, rerun_of: 'r1' } }; // prettier-ignore
    };
    const after = (calls: Call[]) => faults(history([given(), again('r2'), again('r3')], { calls }));

    expect(after([started, rerun, rerun])).toEqual([]);
    expect(after([started, rerun])).toEqual(['I1 was rerun by nobody', 'I1 was rerun by nobody']);
    expect(faultsOf({ run: { idempotency_key: 'other' } })).toContain('I1 was started by nobody');
    expect(faultsOf({ run: { parent: { run_id: 'r0', step_id: 's', key: 'k' } } })).toEqual([
      'I1 is the child of a run that is not there',
    ]);
  });
});

describe('I2 one end, one legal way', () => {
  it.each<[string, Told[]]>([
    ['run_status succeeded was told after its end as succeeded', [...linear, status('succeeded')]],
    ['step_completed was told after its end as succeeded', [...linear, { type: 'step_completed' }]],
    ['went from pending to succeeded', linear.slice(1)],
    ['is succeeded, and its timeline ends in running', linear.slice(0, -1)],
  ])('catches: %s', (text, told) => {
    expect(faultsOf({ told })).toEqual(expect.arrayContaining([expect.stringContaining(`I2 ${text}`)]));
  });

  it.each<[string, Told[], Partial<Given>]>([
    ['step_completed of weigh, which was succeeded', [...linear.slice(0, 3), ...linear.slice(2)], {}],
    ['step_retry_scheduled of weigh, which was pending', [status('running'), { type: 'step_retry_scheduled', step_id: 'weigh' }, ...linear.slice(1)], {}],
    ['weigh is failed, and its timeline ends in succeeded', linear, { steps: { ...given().run.steps, weigh: step('failed') } }],
    ['ended while weigh[1] is running', linear, { steps: { ...given().run.steps, weigh: step('succeeded', { children: [step('succeeded'), step('running')] }) } }],
  ])('catches: %s', (text, told, over) => {
    expect(faultsOf({ told, ...over })).toContain(`I2 ${text}`);
  }); // prettier-ignore
});

describe('R1 steps in order', () => {
  it('catches a step that began before the one it waits for had ended, or though that failed', () => {
    const early = [linear[0], linear[4], ...linear.slice(1, 4), ...linear.slice(5)] as Told[];
    expect(faultsOf({ told: early })).toEqual(['R1 label began before price had ended']);

    const failed: Told[] = [
      ...linear.slice(0, 3),
      { type: 'step_failed', step_id: 'price', status: 'failed' },
      ...linear.slice(4),
    ];
    expect(faultsOf({ told: failed, steps: { ...given().run.steps, price: step('failed') } })).toEqual([
      'R1 label began though price ended failed',
    ]);
  });

  it('lets a rerun begin with what it took over, and knows the steps of every workflow', () => {
    const told = [status('running'), dispatched('label'), done('label'), status('succeeded')];
    const own = { jobs: jobs('r1:label@1') };

    expect(faultsOf({ told, run: { rerun_step: 'label' } }, own)).toEqual([]);
    expect(faultsOf({ told }, own)).toEqual(['R1 label began before price had ended']);
    expect(faultsOf({ workflow: 'else' })).toContain('R1 is of else, which nobody stored');
    expect(faultsOf({ told: [...linear.slice(0, 6), { type: 'step_skipped', step_id: 'x' }, status('succeeded')] })).toContain(
      'R1 tells of a step x that its workflow does not have',
    );
  }); // prettier-ignore
});

describe('R2 one job each', () => {
  it('catches jobs that are missing, too many, unfinished, or not done', () => {
    expect(faultsOf({}, { jobs: jobs('r1:weigh@1') })).toEqual(['R2 asked for r1:label@1, which is not there']);
    expect(faultsOf({}, { jobs: jobs('r1:weigh@1', 'r1:label@1', 'r1:label@2') })).toEqual([
      'R2 r1:label@2 is there, and nothing asked for it',
    ]);
    const open = new Map([...jobs('r1:weigh@1'), ['r1:label@1', jobOf('r1', { state: 'RUNNING' })] as const]);
    expect(faultsOf({}, { jobs: open })).toEqual([
      'R2 ended, and r1:label@1 is RUNNING',
      'R2 took r1:label@1 for done, which is RUNNING',
    ]);
    expect(faults(history([given()], { jobs: jobs('r1:weigh@1', 'r1:label@1', 'r9:a@1') }))).toEqual([
      'R2 has jobs and no record',
    ]);
    const twice = [...linear.slice(0, 5), dispatched('label'), ...linear.slice(5)];
    expect(faultsOf({ told: twice })).toContain('R2 asked twice for r1:label@1');
  });

  it('lets a job be missing that was taken back before it was made', () => {
    const told: Told[] = [
      status('running'),
      dispatched('weigh'),
      { type: 'step_cancelled', step_id: 'weigh' },
      status('cancelled'),
    ];
    const steps = { weigh: step('cancelled'), price: step('cancelled'), label: step('cancelled') };

    expect(faultsOf({ told, steps, run: { status: 'cancelled' } }, { jobs: new Map() })).toEqual([]);
  });
});

describe('R3 undone once, newest first', () => {
  const undo = (path: string, i: number): Told => ({
    type: 'step_compensation_started',
    step_id: path,
    job_id: `comp-${i}`,
  });
  const saga = (undone: string[], undoes = undone, end: RunState['status'] = 'failed') => {
    const booked = ['ship', 'crane', 'crew'];
    const told = [
      status('running'),
      ...booked.flatMap((path) => [dispatched(path), done(path)]),
      dispatched('pay'),
      { type: 'step_failed', step_id: 'pay', status: 'failed' } as const,
      ...undone.map(undo),
      status(end),
    ];
    const own: [string, JobHistory][] = undoes.map((path, i) => [
      `comp-${i}`,
      jobOf('r1', { request: { labels: { saga_undoes: path } } as unknown as JobRecord['request'] }),
    ]);
    const all = new Map([...jobs(...[...booked, 'pay'].map((path) => `r1:${path}@1`)), ...own]);
    const steps = { ...Object.fromEntries(booked.map((path) => [path, step('succeeded')])), pay: step('failed') };
    return faultsOf({ workflow: 'chaos-saga', told, steps, run: { status: end } }, { jobs: all });
  };

  it('catches what is undone twice, in another order, not at all, or for no reason', () => {
    expect(saga(['crew', 'crane', 'ship'])).toEqual([]);
    expect(saga(['crew', 'crane', 'crane', 'ship'])).toContain('R3 undid crew, crane, crane, ship: one of them twice');
    expect(saga(['ship', 'crane', 'crew'])).toEqual([
      'R3 did ship, crane, crew and undid ship, crane, crew: not the newest first',
    ]);
    expect(saga(['crew', 'ship'])).toEqual(['R3 failed and did not undo crane']);
    expect(saga(['crew', 'crane', 'ship'], ['crew', 'crew', 'ship'])).toEqual(['R3 has two jobs that undo the same']);
    expect(saga(['crew', 'crane', 'ship'], undefined, 'succeeded')).toEqual([
      'R3 succeeded and undid crew, crane, ship',
    ]);
  });
});

describe('R4 child runs', () => {
  const asked: Told = { type: 'step_subworkflow_started', step_id: 'left' };
  const parent = (told: Told[]) =>
    given({
      workflow: 'chaos-child',
      told: [status('running'), ...told, { type: 'step_completed', step_id: 'left', status: 'succeeded' }, status('succeeded')],
      steps: { left: step('succeeded', { child_run_id: 'c1' }) },
    }); // prettier-ignore
  const child = (id: string, key: string, over: Partial<RunState> = {}) => {
    const told = [status('running'), status(over.status ?? 'succeeded')];
    return given({ id, steps: {}, told, run: { parent: { run_id: 'r1', step_id: 'left', key }, ...over } });
  };
  const family = (runs: RunHistory[]) =>
    faults(history(runs, { jobs: new Map() })).filter((text) => text.startsWith('R4'));

  it('catches a second child, a missing one, and one that ended otherwise', () => {
    expect(family([parent([asked]), child('c1', 'left:1')])).toEqual([]);
    expect(family([parent([asked]), child('c1', 'left:1'), child('c2', 'left:1')])).toEqual([
      'R4 has two child runs for one step',
      'R4 asked for 1 child runs and has 2',
    ]);
    expect(family([parent([asked])])).toEqual(['R4 left names the child run c1, which is not there']);
    expect(family([parent([asked]), child('c1', 'left:1', { status: 'failed' })])).toEqual([
      'R4 left succeeded, and its run is failed',
    ]);
  });
});

it('R5 the board: catches a run that is shown otherwise than it ended, or twice', () => {
  expect(faultsOf({ shownAs: ['failed'] })).toEqual(['R5 is succeeded, and the board shows it among: failed']);
  expect(faultsOf({ shownAs: ['waiting-children', 'completed'] })).toHaveLength(1);
});

it('I6 idempotency: catches two runs under one key', () => {
  const other = given({ id: 'r2', steps: {}, told: [status('running'), status('succeeded')] });

  expect(faults(history([given(), other]))).toEqual(['I6 key k1 made 2 runs']);
});

it('I15 nothing is stuck: catches a run that has not ended, and what is left of one that has', () => {
  expect(faultsOf({ left: { timers: 1, 'events in its inbox': 0 } })).toEqual(['I15 ended, and has 1 timers']);
  const going = { told: [status('running')], steps: {}, run: { status: 'running' as const }, shownAs: ['waiting-children'] };
  expect(faultsOf(going, { jobs: new Map() })).toEqual(['I15 still is running']);
  expect(faultsOf(going, { jobs: new Map(), mayWait: new Set(['r1']) })).toEqual([]);
}); // prettier-ignore
