import { isRunEnded, isStepEnded, isTerminal, runStates, stepStates, type StepStatus } from '@svc/lifecycle';
import { getGraph, type TimelineEvent, type TimelineType, type WorkflowGraph } from '@svc/workflow';
import type { Call, History, RunHistory, Violation } from './history';
import { getSteps } from './workflows';

type Checker = (history: History) => Violation[];

/** Builds a checker that examines each run on its own. */
const checkEachRun =
  (invariant: string, faultsOf: (of: RunHistory, history: History) => string[]): Checker =>
  (history) =>
    [...history.runs].flatMap(([jobId, of]) => faultsOf(of, history).map((text) => ({ invariant, jobId, text })));

/** A step id of a path: `weigh` of `weigh[2]`. */
const toStepId = (path: string): string => path.replace(/\[\d+\]$/, '');

/** I1. Every run whose start was acknowledged has a record, and every record has a start, rerun or parent. */
export const runsAsked: Checker = (history) => {
  const { calls, runs } = history;
  const startedIds = new Set(calls.flatMap(({ outcome, act, runId, newRunId }) => {
    if (outcome !== 'ok') return [];
    return act === 'start-run' && runId ? [runId] : newRunId ? [newRunId] : [];
  })); // prettier-ignore
  const lost = [...startedIds]
    .filter((id) => !runs.has(id))
    .map((id) => [id, 'was started and has no record'] as const);
  const strays = [...runs].flatMap(([id, of]) => {
    const fault = checkOrigin(of, history);
    return fault ? [[id, fault] as const] : [];
  });
  return [...lost, ...strays].map(([jobId, text]) => ({ invariant: 'I1', jobId, text }));
};

function checkOrigin({ run }: RunHistory, { calls, runs }: History): string | undefined {
  const { parent, rerun_of: origin, idempotency_key: key } = run;
  if (parent) return runs.has(parent.run_id) ? undefined : 'is the child of a run that does not exist';
  if (origin === undefined) {
    return calls.some((call) => call.act === 'start-run' && call.key === key)
      ? undefined
      : 'was not requested by any start';
  }
  const requested = calls.filter((call) => call.act === 'rerun' && call.runId === origin);
  const made = [...runs.values()].filter((other) => other.run.rerun_of === origin).length;
  // A rerun has no idempotency key: a request whose response was lost may have created a run.
  return made <= requested.filter(({ outcome }) => outcome !== 'refused').length
    ? undefined
    : 'was not requested by any rerun';
}

/** I2. One end: the timeline follows the transition table, ends once, and has no event after that. */
export const runEndsOnce = checkEachRun('I2', ({ run, timeline }) => {
  let status = 'pending';
  const faults: string[] = [];
  for (const { type, status: to = '' } of timeline) {
    if (runStates.states.some((state) => state === status && isRunEnded(state))) {
      faults.push(`${type} ${to}`.trim() + ` was recorded after its end as ${status}`);
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

/** Step status after a timeline event; events that are not listed do not change it. */
const statusAfter: Partial<Record<TimelineType, (event: TimelineEvent) => readonly StepStatus[]>> = {
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
/** One transition, or pending to an end: fan-outs and steps that end immediately record no start. */
const isLegal = (from: StepStatus, to: StepStatus): boolean =>
  isMove(from, to) || (from === 'pending' && isStepEnded(to) && isMove('running', to));

/** I2. Each step and item follows the transition table, ends once, and its record agrees with the timeline. */
export const stepTransitionsLegal = checkEachRun('I2', ({ run, timeline }) => {
  const seen = new Map<string, StepStatus>();
  const faults: string[] = [];
  for (const event of timeline) {
    const { step_id: path, type } = event;
    const tos = statusAfter[type]?.(event);
    if (path === undefined || !tos) continue;
    const from = seen.get(path) ?? 'pending';
    const to = tos.find((one) => isLegal(from, one));
    if (to === undefined) faults.push(`${type} of ${path}, which was ${from}`);
    seen.set(path, to ?? tos[0] ?? from);
  }
  for (const [path, last] of seen) {
    const is = recordAt(run, path)?.status;
    // Steps that are still open when a run ends are closed without a timeline event.
    const isClosed = isRunEnded(run.status) && last === 'pending' && (is === 'cancelled' || is === 'skipped');
    if (is !== last && !isClosed && !(isStepEnded(last) && is === 'timed_out')) faults.push(`${path} is ${is}, and its timeline ends in ${last}`); // prettier-ignore
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

/** R1. A step begins after all its dependencies have ended, and only if their results permit it. */
export const stepsInOrder = checkEachRun('R1', ({ run, timeline }) => {
  const steps = getSteps(run.workflow_id);
  if (!steps) return [`is of workflow ${run.workflow_id}, which does not exist`];
  const graph: WorkflowGraph = getGraph({ steps });
  const faults: string[] = [];
  const ended = new Set(run.rerun_step === undefined ? [] : graph.ancestorsOf(run.rerun_step));
  for (const event of timeline) {
    const { step_id: path, type } = event;
    if (path === undefined) continue;
    const id = toStepId(path);
    if (!steps[id]) faults.push(`has an event of step ${id}, which its workflow does not define`);
    if (begins.has(type)) {
      for (const dep of graph.dependenciesOf(id)) {
        if (!ended.has(dep)) faults.push(`${path} began before ${dep} had ended`);
        const { status, settled } = run.steps[dep] ?? {};
        if (settled === 'bad' && steps[id]?.join !== 'any') faults.push(`${path} began though ${dep} ended ${status}`);
      }
    }
    if (path === id && statusAfter[type]?.(event).some((to) => isStepEnded(to))) ended.add(id);
  }
  return faults;
});

/** R2. Each attempt of a step has one job, each job of a run belongs to an attempt, and no job outlives its run. */
export const oneJobEach: Checker = (history) => {
  const { runs, jobs } = history;
  const jobsByRun = new Map<string, string[]>();
  for (const [id, { record }] of jobs) {
    const runId = record?.run;
    if (runId !== undefined) jobsByRun.set(runId, [...(jobsByRun.get(runId) ?? []), id]);
  }
  const strays = [...jobsByRun.keys()].filter((id) => !runs.has(id));
  return [
    ...strays.map((jobId) => ({ invariant: 'R2', jobId, text: 'has jobs and no record' })),
    ...checkEachRun('R2', (of) => checkJobs(of, jobsByRun.get(of.run.id) ?? [], history))(history),
  ];
};

function checkJobs({ run, timeline }: RunHistory, own: readonly string[], { jobs }: History): string[] {
  const faults: string[] = [];
  const requested = new Set<string>();
  const requests = timeline.filter(({ type, job_id }) => job_id !== undefined && requestsJob.has(type));
  for (const { job_id: jobId = '', step_id: path } of requests) {
    if (requested.has(jobId)) faults.push(`requested ${jobId} twice`);
    requested.add(jobId);
    if (jobs.get(jobId)?.record) continue;
    // A job cancelled before it was created may be missing.
    const isCancelled = timeline.some((event) => event.step_id === path && cancelsJob.has(event.type));
    if (!isCancelled) faults.push(`requested ${jobId}, which does not exist`);
  }
  for (const id of own) {
    if (!requested.has(id)) faults.push(`${id} exists, and no step requested it`);
    const state = jobs.get(id)?.record?.state;
    if (isRunEnded(run.status) && state && !isTerminal(state)) faults.push(`ended, and ${id} is ${state}`);
  }
  for (const { type, job_id: jobId = '' } of timeline) {
    const state = jobs.get(jobId)?.record?.state;
    if (type === 'step_completed' && state && state !== 'SUCCEEDED' && state !== 'OUTPUT_QUARANTINED') {
      faults.push(`completed a step with ${jobId}, which is ${state}`);
    }
  }
  return faults;
}

const requestsJob: ReadonlySet<TimelineType> = new Set([
  'step_dispatched',
  'step_waiting',
  'step_compensation_started',
]);
const cancelsJob: ReadonlySet<TimelineType> = new Set(['step_cancelled', 'step_foreach_orphan_cancelled']);

/** R3. Each step is compensated at most once, newest first; a failed run has compensated every completed step. */
export const compensatedOnce = checkEachRun('R3', ({ run, timeline }, { jobs }) => {
  const steps = getSteps(run.workflow_id) ?? {};
  const pathsWith = (type: TimelineType) => timeline.flatMap((event) => (event.type === type && event.step_id ? [event.step_id] : [])); // prettier-ignore
  const undone = pathsWith('step_compensation_started');
  const done = pathsWith('step_completed').filter(
    (path) => steps[toStepId(path)]?.compensation && !run.steps[path]?.children,
  );
  const faults: string[] = [];
  if (new Set(undone).size < undone.length) faults.push(`compensated ${undone.join(', ')}: one of them twice`);
  const order = undone.map((path) => done.indexOf(path)).filter((place) => place >= 0);
  if (order.some((place, i) => i > 0 && place > (order[i - 1] ?? 0))) {
    faults.push(`completed ${done.join(', ')} and compensated ${undone.join(', ')}: not newest first`);
  }
  const missing = done.filter((path) => !undone.includes(path));
  if (run.status === 'failed' && missing.length > 0) faults.push(`failed and did not compensate ${missing.join(', ')}`);
  if (run.status === 'succeeded' && undone.length > 0) faults.push(`succeeded and compensated ${undone.join(', ')}`);
  const compensated = [...jobs.values()].flatMap(({ record }) => {
    const undoes = record?.run === run.id ? record.request.labels['saga_undoes'] : undefined;
    return undoes === undefined ? [] : [undoes];
  });
  if (new Set(compensated).size < compensated.length) faults.push(`has two jobs that compensate the same step`);
  return faults;
});

/** R4. A child run has the status of its step, and is started once per request. */
export const childrenAgree = checkEachRun('R4', ({ run, timeline }, { runs }) => {
  const children = [...runs.values()].filter(({ run: { parent } }) => parent?.run_id === run.id);
  const byKey = new Set(children.map(({ run: { parent } }) => parent?.key));
  const requested = timeline.filter(({ type }) => type === 'step_subworkflow_started').length;
  const faults: string[] = [];
  if (byKey.size < children.length) faults.push('has two child runs for one step');
  if (children.length > requested) faults.push(`requested ${requested} child runs and has ${children.length}`);
  for (const [id, { status, child_run_id: childId }] of Object.entries(run.steps)) {
    const child = childId === undefined ? undefined : runs.get(childId)?.run;
    if (childId !== undefined && !child) faults.push(`${id} names the child run ${childId}, which does not exist`);
    if (status === 'succeeded' && child && child.status !== 'succeeded') faults.push(`${id} succeeded, and its run is ${child.status}`); // prettier-ignore
  }
  return faults;
});

/** R5. The board shows each run in the set of its status. */
export const boardAgrees = checkEachRun('R5', ({ run, shownAs }) => {
  const wanted = !isRunEnded(run.status) ? 'waiting-children' : run.status === 'succeeded' ? 'completed' : 'failed';
  return shownAs.join() === wanted ? [] : [`is ${run.status}, and the board shows it among: ${shownAs.join(', ')}`];
});

/** I6. One idempotency key with one input creates one run. */
export const startsOnce: Checker = ({ calls, runs }) => {
  const answered = new Map<string, Set<string>>();
  const add = (key: string, runId: string) => answered.set(key, (answered.get(key) ?? new Set()).add(runId));
  for (const { act, key, outcome, runId } of calls as readonly Call[]) {
    if (act === 'start-run' && outcome === 'ok' && key !== undefined && runId) add(key, runId);
  }
  for (const [id, { run }] of runs) if (run.idempotency_key !== undefined) add(run.idempotency_key, id);
  return [...answered].flatMap(([key, ids]) =>
    ids.size === 1 ? [] : [{ invariant: 'I6', jobId: [...ids][0] ?? '', text: `key ${key} created ${ids.size} runs` }],
  );
};

/** I15. Every run has ended, and ended runs leave no timers, events or entries. */
export const runsAtRest = checkEachRun('I15', ({ run, left }, { mayWait }) => {
  if (!isRunEnded(run.status)) return mayWait.has(run.id) ? [] : [`is still ${run.status}`];
  return Object.entries(left).flatMap(([what, count]) => (count > 0 ? [`ended, and has ${count} ${what}`] : []));
});

export const runInvariants: readonly Checker[] = [
  runsAsked,
  runEndsOnce,
  stepTransitionsLegal,
  stepsInOrder,
  oneJobEach,
  compensatedOnce,
  childrenAgree,
  boardAgrees,
  startsOnce,
  runsAtRest,
];
