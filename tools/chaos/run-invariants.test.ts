import type { JobRecord } from '@svc/store';
import { newRun, type RunState, type StepRun, type TimelineEvent } from '@svc/workflow';
import { describeTransition, type Call, type History, type JobHistory, type RunHistory } from './history';
import { violations } from './invariants';
import { runInvariants } from './run-invariants';

/** Valid runs; each test breaks one thing. */
type EventFields = Partial<TimelineEvent> & Pick<TimelineEvent, 'type'>;

const step = (status: StepRun['status'], over: Partial<StepRun> = {}): StepRun => ({
  status,
  attempts: 1,
  tries: 1,
  settled: status === 'succeeded' ? 'ok' : 'bad',
  ...over,
});
const line = (run: string, event: EventFields, i: number): TimelineEvent => ({
  time_ms: 1_000 + i,
  run_id: run,
  workflow_id: '',
  ...event,
});
const dispatched = (path: string, run = 'r1'): EventFields => ({
  type: 'step_dispatched',
  step_id: path,
  job_id: `${run}:${path}@1`,
});
const done = (path: string, run = 'r1'): EventFields => ({
  type: 'step_completed',
  step_id: path,
  status: 'succeeded',
  job_id: `${run}:${path}@1`,
});
const status = (to: string): EventFields => ({ type: 'run_status', status: to });
const linear: EventFields[] = [
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
  timeline?: EventFields[];
  left?: RunHistory['left'];
  shownAs?: string[];
}

function given({
  id = 'r1',
  workflow = 'chaos-linear',
  run = {},
  steps,
  timeline = linear,
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
    timeline: timeline.map((event, i) => line(id, event, i)),
    left,
    shownAs: shownAs ?? [state.status === 'succeeded' ? 'completed' : 'failed'],
  };
}

const buildJob = (run: string, over: Partial<JobRecord> = {}): JobHistory => ({
  record: { state: 'SUCCEEDED', run, request: { labels: {} }, ...over } as JobRecord,
  events: [],
  decisions: [],
  deadLetter: undefined,
});
const jobs = (...ids: string[]) => new Map(ids.map((id) => [id, buildJob(id.split(':')[0] ?? '')] as const));
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
  audit: new Map([
    [
      'acme',
      {
        status: 'ok',
        gaps: [],
        transitions: new Set(runs.map(({ run }) => describeTransition(run.id, run.status))),
      },
    ],
  ]),
  left: {},
  ...over,
});
const faults = (broken: History) =>
  runInvariants.flatMap((check) => check(broken)).map(({ invariant, text }) => `${invariant} ${text}`);
const faultsWith = (over: Given, more: Partial<History> = {}) => faults(history([given(over)], more));

it('accepts a valid run, and is one of the invariants', () => {
  expect(faultsWith({})).toEqual([]);
  expect(violations(history([given({ shownAs: [] })], { jobs: new Map() }))).not.toEqual([]);
});

describe('I1 nothing lost', () => {
  it('reports a run whose start or rerun was acknowledged and which has no record', () => {
    const rerun: Call = { ...started, act: 'rerun', newRunId: 'r2' };

    expect(faults(history([given()], { calls: [started, rerun] }))).toEqual(['I1 was started and has no record']);
    expect(faults(history([], { jobs: new Map() }))).toEqual(['I1 was started and has no record']);
  });

  it('reports runs without a request, and accepts a second rerun when a response was lost', () => {
    const rerun: Call = { ...started, act: 'rerun', outcome: 'unknown' };
    const again = (id: string) => {
      const { idempotency_key: _, ...run } = given({ id, timeline: [status('running'), status('succeeded')] }).run;
      return { ...given({ id, timeline: [status('running'), status('succeeded')], steps: {} }), run: { ...run, steps: {}, rerun_of: 'r1' } }; // prettier-ignore
    };
    const after = (calls: Call[]) => faults(history([given(), again('r2'), again('r3')], { calls }));

    expect(after([started, rerun, rerun])).toEqual([]);
    expect(after([started, rerun])).toEqual(['I1 was not requested by any rerun', 'I1 was not requested by any rerun']);
    expect(faultsWith({ run: { idempotency_key: 'other' } })).toContain('I1 was not requested by any start');
    expect(faultsWith({ run: { parent: { run_id: 'r0', step_id: 's', key: 'k' } } })).toEqual([
      'I1 is the child of a run that does not exist',
    ]);
  });
});

describe('I2 one end, legal transitions', () => {
  it.each<[string, EventFields[]]>([
    ['run_status succeeded was recorded after its end as succeeded', [...linear, status('succeeded')]],
    ['step_completed was recorded after its end as succeeded', [...linear, { type: 'step_completed' }]],
    ['went from pending to succeeded', linear.slice(1)],
    ['is succeeded, and its timeline ends in running', linear.slice(0, -1)],
  ])('reports: %s', (text, timeline) => {
    expect(faultsWith({ timeline })).toEqual(expect.arrayContaining([expect.stringContaining(`I2 ${text}`)]));
  });

  it.each<[string, EventFields[], Partial<Given>]>([
    ['step_completed of weigh, which was succeeded', [...linear.slice(0, 3), ...linear.slice(2)], {}],
    ['step_retry_scheduled of weigh, which was pending', [status('running'), { type: 'step_retry_scheduled', step_id: 'weigh' }, ...linear.slice(1)], {}],
    ['weigh is failed, and its timeline ends in succeeded', linear, { steps: { ...given().run.steps, weigh: step('failed') } }],
    ['ended while weigh[1] is running', linear, { steps: { ...given().run.steps, weigh: step('succeeded', { children: [step('succeeded'), step('running')] }) } }],
  ])('reports: %s', (text, timeline, over) => {
    expect(faultsWith({ timeline, ...over })).toContain(`I2 ${text}`);
  }); // prettier-ignore
});

describe('R1 steps in order', () => {
  it('reports a step that began before its dependency ended, or although it failed', () => {
    const early = [linear[0], linear[4], ...linear.slice(1, 4), ...linear.slice(5)] as EventFields[];
    expect(faultsWith({ timeline: early })).toEqual(['R1 label began before price had ended']);

    const failed: EventFields[] = [
      ...linear.slice(0, 3),
      { type: 'step_failed', step_id: 'price', status: 'failed' },
      ...linear.slice(4),
    ];
    expect(faultsWith({ timeline: failed, steps: { ...given().run.steps, price: step('failed') } })).toEqual([
      'R1 label began though price ended failed',
    ]);
  });

  it('accepts a rerun that starts from the results it took over, and reports unknown steps and workflows', () => {
    const timeline = [status('running'), dispatched('label'), done('label'), status('succeeded')];
    const own = { jobs: jobs('r1:label@1') };

    expect(faultsWith({ timeline, run: { rerun_step: 'label' } }, own)).toEqual([]);
    expect(faultsWith({ timeline }, own)).toEqual(['R1 label began before price had ended']);
    expect(faultsWith({ workflow: 'else' })).toContain('R1 is of workflow else, which does not exist');
    expect(faultsWith({ timeline: [...linear.slice(0, 6), { type: 'step_skipped', step_id: 'x' }, status('succeeded')] })).toContain(
      'R1 has an event of step x, which its workflow does not define',
    );
  }); // prettier-ignore
});

describe('R2 one job per attempt', () => {
  it('reports jobs that are missing, unrequested, unfinished, or requested twice', () => {
    expect(faultsWith({}, { jobs: jobs('r1:weigh@1') })).toEqual(['R2 requested r1:label@1, which does not exist']);
    expect(faultsWith({}, { jobs: jobs('r1:weigh@1', 'r1:label@1', 'r1:label@2') })).toEqual([
      'R2 r1:label@2 exists, and no step requested it',
    ]);
    const open = new Map([...jobs('r1:weigh@1'), ['r1:label@1', buildJob('r1', { state: 'RUNNING' })] as const]);
    expect(faultsWith({}, { jobs: open })).toEqual([
      'R2 ended, and r1:label@1 is RUNNING',
      'R2 completed a step with r1:label@1, which is RUNNING',
    ]);
    expect(faults(history([given()], { jobs: jobs('r1:weigh@1', 'r1:label@1', 'r9:a@1') }))).toEqual([
      'R2 has jobs and no record',
    ]);
    const twice = [...linear.slice(0, 5), dispatched('label'), ...linear.slice(5)];
    expect(faultsWith({ timeline: twice })).toContain('R2 requested r1:label@1 twice');
  });

  it('accepts a missing job that was cancelled before it was created', () => {
    const timeline: EventFields[] = [
      status('running'),
      dispatched('weigh'),
      { type: 'step_cancelled', step_id: 'weigh' },
      status('cancelled'),
    ];
    const steps = { weigh: step('cancelled'), price: step('cancelled'), label: step('cancelled') };

    expect(faultsWith({ timeline, steps, run: { status: 'cancelled' } }, { jobs: new Map() })).toEqual([]);
  });
});

describe('R3 compensated once, newest first', () => {
  const undo = (path: string, i: number): EventFields => ({
    type: 'step_compensation_started',
    step_id: path,
    job_id: `comp-${i}`,
  });
  const saga = (undone: string[], undoes = undone, end: RunState['status'] = 'failed') => {
    const booked = ['ship', 'crane', 'crew'];
    const timeline = [
      status('running'),
      ...booked.flatMap((path) => [dispatched(path), done(path)]),
      dispatched('pay'),
      { type: 'step_failed', step_id: 'pay', status: 'failed' } as const,
      ...undone.map(undo),
      status(end),
    ];
    const own: [string, JobHistory][] = undoes.map((path, i) => [
      `comp-${i}`,
      buildJob('r1', { request: { labels: { saga_undoes: path } } as unknown as JobRecord['request'] }),
    ]);
    const all = new Map([...jobs(...[...booked, 'pay'].map((path) => `r1:${path}@1`)), ...own]);
    const steps = { ...Object.fromEntries(booked.map((path) => [path, step('succeeded')])), pay: step('failed') };
    return faultsWith({ workflow: 'chaos-saga', timeline, steps, run: { status: end } }, { jobs: all });
  };

  it('reports compensation that is repeated, out of order, missing, or without a failure', () => {
    expect(saga(['crew', 'crane', 'ship'])).toEqual([]);
    expect(saga(['crew', 'crane', 'crane', 'ship'])).toContain(
      'R3 compensated crew, crane, crane, ship: one of them twice',
    );
    expect(saga(['ship', 'crane', 'crew'])).toEqual([
      'R3 completed ship, crane, crew and compensated ship, crane, crew: not newest first',
    ]);
    expect(saga(['crew', 'ship'])).toEqual(['R3 failed and did not compensate crane']);
    expect(saga(['crew', 'crane', 'ship'], ['crew', 'crew', 'ship'])).toEqual([
      'R3 has two jobs that compensate the same step',
    ]);
    expect(saga(['crew', 'crane', 'ship'], undefined, 'succeeded')).toEqual([
      'R3 succeeded and compensated crew, crane, ship',
    ]);
  });
});

describe('R4 child runs', () => {
  const requested: EventFields = { type: 'step_subworkflow_started', step_id: 'left' };
  const parent = (timeline: EventFields[]) =>
    given({
      workflow: 'chaos-child',
      timeline: [status('running'), ...timeline, { type: 'step_completed', step_id: 'left', status: 'succeeded' }, status('succeeded')],
      steps: { left: step('succeeded', { child_run_id: 'c1' }) },
    }); // prettier-ignore
  const child = (id: string, key: string, over: Partial<RunState> = {}) => {
    const timeline = [status('running'), status(over.status ?? 'succeeded')];
    return given({ id, steps: {}, timeline, run: { parent: { run_id: 'r1', step_id: 'left', key }, ...over } });
  };
  const family = (runs: RunHistory[]) =>
    faults(history(runs, { jobs: new Map() })).filter((text) => text.startsWith('R4'));

  it('reports a second child, a missing one, and one with another status', () => {
    expect(family([parent([requested]), child('c1', 'left:1')])).toEqual([]);
    expect(family([parent([requested]), child('c1', 'left:1'), child('c2', 'left:1')])).toEqual([
      'R4 has two child runs for one step',
      'R4 requested 1 child runs and has 2',
    ]);
    expect(family([parent([requested])])).toEqual(['R4 left names the child run c1, which does not exist']);
    expect(family([parent([requested]), child('c1', 'left:1', { status: 'failed' })])).toEqual([
      'R4 left succeeded, and its run is failed',
    ]);
  });
});

it('R5 the board: reports a run that is shown in the wrong set, or in two', () => {
  expect(faultsWith({ shownAs: ['failed'] })).toEqual(['R5 is succeeded, and the board shows it among: failed']);
  expect(faultsWith({ shownAs: ['waiting-children', 'completed'] })).toHaveLength(1);
});

it('I6 idempotency: reports two runs with one key', () => {
  const other = given({ id: 'r2', steps: {}, timeline: [status('running'), status('succeeded')] });

  expect(faults(history([given(), other]))).toEqual(['I6 key k1 created 2 runs']);
});

it('I15 nothing is stuck: reports a run that has not ended, and leftovers of one that has', () => {
  expect(faultsWith({ left: { timers: 1, 'events in its inbox': 0 } })).toEqual(['I15 ended, and has 1 timers']);
  const going = { timeline: [status('running')], steps: {}, run: { status: 'running' as const }, shownAs: ['waiting-children'] };
  expect(faultsWith(going, { jobs: new Map() })).toEqual(['I15 is still running']);
  expect(faultsWith(going, { jobs: new Map(), mayWait: new Set(['r1']) })).toEqual([]);
}); // prettier-ignore
