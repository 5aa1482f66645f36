import { isRunEnded, isStepEnded, isTerminal, runStates, stepStates, type StepStatus } from '@svc/lifecycle';
import { getGraph, type TimelineEvent, type TimelineType, type WorkflowGraph } from '@svc/workflow';
import type { Call, History, RunHistory, Violation } from './history';
import { stepsOf } from './workflows';

type Checker = (history: History) => Violation[];

/** A checker of what is told of one run. */
const ofEach =
  (invariant: string, faultsOf: (of: RunHistory, history: History) => string[]): Checker =>
  (history) =>
    [...history.runs].flatMap(([jobId, of]) => faultsOf(of, history).map((text) => ({ invariant, jobId, text })));

/** A step id of a path: `weigh` of `weigh[2]`. */
const stepOf = (path: string): string => path.replace(/\[\d+\]$/, '');

/** I1. Every run that a client was told of is there, and every run that is there was asked for. */
export const runsAsked: Checker = (history) => {
  const { calls, runs } = history;
  const told = new Set(calls.flatMap(({ outcome, act, runId, newRunId }) => {
    if (outcome !== 'ok') return [];
    return act === 'start-run' && runId ? [runId] : newRunId ? [newRunId] : [];
  })); // prettier-ignore
  const lost = [...told].filter((id) => !runs.has(id)).map((id) => [id, 'was started and has no record'] as const);
  const strays = [...runs].flatMap(([id, of]) => {
    const fault = unasked(of, history);
    return fault ? [[id, fault] as const] : [];
  });
  return [...lost, ...strays].map(([jobId, text]) => ({ invariant: 'I1', jobId, text }));
};

function unasked({ run }: RunHistory, { calls, runs }: History): string | undefined {
  const { parent, rerun_of: origin, idempotency_key: key } = run;
  if (parent) return runs.has(parent.run_id) ? undefined : 'is the child of a run that is not there';
  if (origin === undefined) {
    return calls.some((call) => call.act === 'start-run' && call.key === key) ? undefined : 'was started by nobody';
  }
  const asked = calls.filter((call) => call.act === 'rerun' && call.runId === origin);
  const made = [...runs.values()].filter((other) => other.run.rerun_of === origin).length;
  // A rerun has no key: one whose answer was lost may be there once more.
  return made <= asked.filter(({ outcome }) => outcome !== 'refused').length ? undefined : 'was rerun by nobody';
}

/** I2. One end: what is told of a run is a walk along its table that ends once, and nothing is told after its end. */
export const runEndsOnce = ofEach('I2', ({ run, timeline }) => {
  let status = 'pending';
  const faults: string[] = [];
  for (const { type, status: to = '' } of timeline) {
    if (runStates.states.some((state) => state === status && isRunEnded(state))) {
      faults.push(`${type} ${to}`.trim() + ` was told after its end as ${status}`);
    }
    if (type !== 'run_status') continue;
    const isMove = Object.values(runStates.moves).some(
      (move) => move.to === to && move.from.some((from) => from === status),
    );
    if (!isMove) faults.push(`went from ${status} to ${to}`);
    status = to;
  }
  if (status !== run.status) faults.push(`is ${run.status}, and its timeline ends in ${status}`);
  return faults;
});

/** Where a line of the timeline leads its step; those that are not here lead nowhere. */
const leadsTo: Partial<Record<TimelineType, (event: TimelineEvent) => readonly StepStatus[]>> = {
  step_dispatched: () => ['running'],
  step_delay_started: () => ['running'],
  step_subworkflow_started: () => ['running'],
  step_parallel_started: () => ['running'],
  step_waiting: () => ['waiting'],
  step_retry_scheduled: () => ['pending'],
  step_completed: () => ['succeeded'],
  step_failed: ({ status }) => (['failed', 'denied', 'timed_out'] as const).filter((end) => end === status),
  step_skipped: () => ['skipped'],
  step_cancelled: () => ['cancelled', 'timed_out'],
  step_foreach_orphan_cancelled: () => ['cancelled', 'timed_out'],
};
const begins: ReadonlySet<TimelineType> = new Set([
  'step_dispatched',
  'step_delay_started',
  'step_subworkflow_started',
  'step_parallel_started',
  'step_waiting',
]);

const moves = Object.values(stepStates.moves);
const isMove = (from: StepStatus, to: StepStatus): boolean =>
  moves.some((move) => move.to === to && move.from.some((one) => one === from));
/** By one move, or to an end by beginning first: that of fan-outs, and of what is over at once, is not told. */
const mayLead = (from: StepStatus, to: StepStatus): boolean =>
  isMove(from, to) || (from === 'pending' && isStepEnded(to) && isMove('running', to));

/** I2. Each step and item goes its way along the table of steps, with one end, and its record says the same. */
export const stepsGoLegalWays = ofEach('I2', ({ run, timeline }) => {
  const seen = new Map<string, StepStatus>();
  const faults: string[] = [];
  for (const event of timeline) {
    const { step_id: path, type } = event;
    const tos = leadsTo[type]?.(event);
    if (path === undefined || !tos) continue;
    const from = seen.get(path) ?? 'pending';
    const to = tos.find((one) => mayLead(from, one));
    if (to === undefined) faults.push(`${type} of ${path}, which was ${from}`);
    seen.set(path, to ?? tos[0] ?? from);
  }
  for (const [path, told] of seen) {
    const is = recordAt(run, path)?.status;
    // What is left when a run ends is closed without a word.
    const isClosed = isRunEnded(run.status) && told === 'pending' && (is === 'cancelled' || is === 'skipped');
    if (is !== told && !isClosed && !(isStepEnded(told) && is === 'timed_out')) faults.push(`${path} is ${is}, and its timeline ends in ${told}`); // prettier-ignore
  }
  if (!isRunEnded(run.status)) return faults;
  for (const [id, step] of Object.entries(run.steps)) {
    const open = [[id, step] as const, ...(step.children ?? []).map((item, i) => [`${id}[${i}]`, item] as const)];
    for (const [path, { status }] of open) if (!isStepEnded(status)) faults.push(`ended while ${path} is ${status}`);
  }
  return faults;
});

function recordAt({ steps }: RunHistory['run'], path: string) {
  const [, step = '', index] = /^(.+?)(?:\[(\d+)\])?$/.exec(path) ?? [];
  return index === undefined ? steps[step] : steps[step]?.children?.[Number(index)];
}

/** R1. A step begins once all it waits for has ended, and only if that lets it. */
export const stepsInOrder = ofEach('R1', ({ run, timeline }) => {
  const steps = stepsOf(run.workflow_id);
  if (!steps) return [`is of ${run.workflow_id}, which nobody stored`];
  const graph: WorkflowGraph = getGraph({ steps });
  const faults: string[] = [];
  const ended = new Set(run.rerun_step === undefined ? [] : graph.ancestorsOf(run.rerun_step));
  for (const event of timeline) {
    const { step_id: path, type } = event;
    if (path === undefined) continue;
    const id = stepOf(path);
    if (!steps[id]) faults.push(`tells of a step ${id} that its workflow does not have`);
    if (begins.has(type)) {
      for (const dep of graph.dependenciesOf(id)) {
        if (!ended.has(dep)) faults.push(`${path} began before ${dep} had ended`);
        const { status, settled } = run.steps[dep] ?? {};
        if (settled === 'bad' && steps[id]?.join !== 'any') faults.push(`${path} began though ${dep} ended ${status}`);
      }
    }
    if (path === id && leadsTo[type]?.(event).some((to) => isStepEnded(to))) ended.add(id);
  }
  return faults;
});

/** R2. Each attempt of a step has one job, no job of a run is there that no attempt asked for, and none outlives its run. */
export const oneJobEach: Checker = (history) => {
  const { runs, jobs } = history;
  const jobsOf = new Map<string, string[]>();
  for (const [id, { record }] of jobs) {
    const runId = record?.run;
    if (runId !== undefined) jobsOf.set(runId, [...(jobsOf.get(runId) ?? []), id]);
  }
  const strays = [...jobsOf.keys()].filter((id) => !runs.has(id));
  return [
    ...strays.map((jobId) => ({ invariant: 'R2', jobId, text: 'has jobs and no record' })),
    ...ofEach('R2', (of) => faultsOfJobs(of, jobsOf.get(of.run.id) ?? [], history))(history),
  ];
};

function faultsOfJobs({ run, timeline }: RunHistory, own: readonly string[], { jobs }: History): string[] {
  const faults: string[] = [];
  const asked = new Set<string>();
  const asking = timeline.filter(({ type, job_id }) => job_id !== undefined && asks.has(type));
  for (const { job_id: jobId = '', step_id: path } of asking) {
    if (asked.has(jobId)) faults.push(`asked twice for ${jobId}`);
    asked.add(jobId);
    if (jobs.get(jobId)?.record) continue;
    // One that was taken back before it was made need not be.
    const isTakenBack = timeline.some((event) => event.step_id === path && takesBack.has(event.type));
    if (!isTakenBack) faults.push(`asked for ${jobId}, which is not there`);
  }
  for (const id of own) {
    if (!asked.has(id)) faults.push(`${id} is there, and nothing asked for it`);
    const state = jobs.get(id)?.record?.state;
    if (isRunEnded(run.status) && state && !isTerminal(state)) faults.push(`ended, and ${id} is ${state}`);
  }
  for (const { type, job_id: jobId = '' } of timeline) {
    const state = jobs.get(jobId)?.record?.state;
    if (type === 'step_completed' && state && state !== 'SUCCEEDED' && state !== 'OUTPUT_QUARANTINED') {
      faults.push(`took ${jobId} for done, which is ${state}`);
    }
  }
  return faults;
}

const asks: ReadonlySet<TimelineType> = new Set(['step_dispatched', 'step_waiting', 'step_compensation_started']);
const takesBack: ReadonlySet<TimelineType> = new Set(['step_cancelled', 'step_foreach_orphan_cancelled']);

/** R3. What is undone is undone once, newest first; a run that failed has undone all that was done. */
export const undoneOnce = ofEach('R3', ({ run, timeline }, { jobs }) => {
  const steps = stepsOf(run.workflow_id) ?? {};
  const told = (type: TimelineType) => timeline.flatMap((event) => (event.type === type && event.step_id ? [event.step_id] : [])); // prettier-ignore
  const undone = told('step_compensation_started');
  const done = told('step_completed').filter((path) => steps[stepOf(path)]?.compensation && !run.steps[path]?.children);
  const faults: string[] = [];
  if (new Set(undone).size < undone.length) faults.push(`undid ${undone.join(', ')}: one of them twice`);
  const order = undone.map((path) => done.indexOf(path)).filter((place) => place >= 0);
  if (order.some((place, i) => i > 0 && place > (order[i - 1] ?? 0))) {
    faults.push(`did ${done.join(', ')} and undid ${undone.join(', ')}: not the newest first`);
  }
  const missing = done.filter((path) => !undone.includes(path));
  if (run.status === 'failed' && missing.length > 0) faults.push(`failed and did not undo ${missing.join(', ')}`);
  if (run.status === 'succeeded' && undone.length > 0) faults.push(`succeeded and undid ${undone.join(', ')}`);
  const about = [...jobs.values()].flatMap(({ record }) => {
    const undoes = record?.run === run.id ? record.request.labels['saga_undoes'] : undefined;
    return undoes === undefined ? [] : [undoes];
  });
  if (new Set(about).size < about.length) faults.push(`has two jobs that undo the same`);
  return faults;
});

/** R4. A child run ended as its step says, and is there once for each time it was asked for. */
export const childrenAgree = ofEach('R4', ({ run, timeline }, { runs }) => {
  const children = [...runs.values()].filter(({ run: { parent } }) => parent?.run_id === run.id);
  const byKey = new Set(children.map(({ run: { parent } }) => parent?.key));
  const asked = timeline.filter(({ type }) => type === 'step_subworkflow_started').length;
  const faults: string[] = [];
  if (byKey.size < children.length) faults.push('has two child runs for one step');
  if (children.length > asked) faults.push(`asked for ${asked} child runs and has ${children.length}`);
  for (const [id, { status, child_run_id: childId }] of Object.entries(run.steps)) {
    const child = childId === undefined ? undefined : runs.get(childId)?.run;
    if (childId !== undefined && !child) faults.push(`${id} names the child run ${childId}, which is not there`);
    if (status === 'succeeded' && child && child.status !== 'succeeded') faults.push(`${id} succeeded, and its run is ${child.status}`); // prettier-ignore
  }
  return faults;
});

/** R5. The board shows how it ended. */
export const boardTells = ofEach('R5', ({ run, shownAs }) => {
  const wanted = !isRunEnded(run.status) ? 'waiting-children' : run.status === 'succeeded' ? 'completed' : 'failed';
  return shownAs.join() === wanted ? [] : [`is ${run.status}, and the board shows it among: ${shownAs.join(', ')}`];
});

/** I6. One key with one input is one run. */
export const startsOnce: Checker = ({ calls, runs }) => {
  const answered = new Map<string, Set<string>>();
  const add = (key: string, runId: string) => answered.set(key, (answered.get(key) ?? new Set()).add(runId));
  for (const { act, key, outcome, runId } of calls as readonly Call[]) {
    if (act === 'start-run' && outcome === 'ok' && key !== undefined && runId) add(key, runId);
  }
  for (const [id, { run }] of runs) if (run.idempotency_key !== undefined) add(run.idempotency_key, id);
  return [...answered].flatMap(([key, ids]) =>
    ids.size === 1 ? [] : [{ invariant: 'I6', jobId: [...ids][0] ?? '', text: `key ${key} made ${ids.size} runs` }],
  );
};

/** I15. Every run has ended, and nothing is left of one that has. */
export const runsAtRest = ofEach('I15', ({ run, left }, { mayWait }) => {
  if (!isRunEnded(run.status)) return mayWait.has(run.id) ? [] : [`still is ${run.status}`];
  return Object.entries(left).flatMap(([what, count]) => (count > 0 ? [`ended, and has ${count} ${what}`] : []));
});

export const runInvariants: readonly Checker[] = [
  runsAsked,
  runEndsOnce,
  stepsGoLegalWays,
  stepsInOrder,
  oneJobEach,
  undoneOnce,
  childrenAgree,
  boardTells,
  startsOnce,
  runsAtRest,
];
