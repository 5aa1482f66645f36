import { isRunEnded, isStepEnded } from '@svc/lifecycle';
import type { Action } from './actions';
import type { JobEnd, RunEvent } from './events';
import { chance, lists, type Case } from './generate.testing';
import { childKeyParts } from './ids';
import { newRun } from './new-run';
import { chooseFate } from './oracle.testing';
import { plan, planEvents, type PlanRequest } from './plan';
import type { RunState, StepRun } from './run-state';

export interface WorldOptions {
  maxParallelSteps: number;
  /** Probability of a fault, 0 to 1. */
  trouble: number;
  cancelAfter?: number;
}

/**
 * Simulated environment of a run: workers, people, clocks, and an engine that crashes. Answers arrive in any order, twice
 * and late; plans are discarded and recomputed; actions are executed twice. Invariants are checked after each pass.
 */
export class World {
  run: RunState;
  nowMs = 0;
  readonly open = new Map<string, RunEvent>();
  readonly timers = new Map<string, number>();
  readonly old: RunEvent[] = [];
  readonly everAsked = new Set<string>();
  /** Compensated jobs. */
  readonly undone: string[] = [];
  /** Jobs of steps that completed. */
  readonly succeeded: string[] = [];
  finished = 0;
  private moment = 0;
  private unconfirmed: string[] = [];

  constructor(
    private readonly given: Case,
    private readonly options: WorldOptions,
  ) {
    this.run = newRun({ id: 'r', workflow_id: 'harbour', org_id: 'acme', input: { lists } }, 0);
  }

  private dice = (what: string): number => chance(this.given.order, what, this.moment++);

  /** Runs until no event is left. */
  play(): void {
    this.send({ kind: 'start' });
    for (let turn = 0; this.open.size + this.timers.size > 0; turn++) {
      if (turn > 3_000) throw new Error('the run does not come to an end');
      if (turn === this.options.cancelAfter) this.send({ kind: 'cancel', by: 'ann', compensate: true });
      if (this.dice('trouble') < this.options.trouble) this.makeTrouble();
      else this.resume();
    }
  }

  private resume(): void {
    const events = [...this.open];
    const [key, event] = events[Math.floor(this.dice('pick') * events.length)] ?? [];
    // Timers fire when no answer is left, or at random before.
    if (key === undefined || !event || (this.timers.size > 0 && this.dice('timer') < 0.2)) return this.fireTimer();
    this.open.delete(key);
    this.send(event);
  }

  private fireTimer(): void {
    const [next] = [...this.timers].sort(([, a], [, b]) => a - b);
    if (!next) return;
    this.timers.delete(next[0]);
    this.nowMs = Math.max(this.nowMs, next[1]);
    this.send({ kind: 'timerFired', timerId: next[0] });
  }

  private makeTrouble(): void {
    const again = this.old[Math.floor(this.dice('old') * this.old.length)];
    const which = this.dice('which');
    if (which < 0.4 && again) return this.send(again);
    if (which < 0.6) return this.send({ kind: 'tick' });
    const stale = Object.keys(this.run.steps)[0] ?? '';
    this.send({ kind: 'jobEnded', jobId: `r:${stale}@0`, status: 'SUCCEEDED' });
  }

  /** Two events that are planned together give the plan of one after the other. */
  private planTogether(request: PlanRequest, first: ReturnType<typeof plan>): void {
    const candidates = [...this.open.values(), ...this.old, { kind: 'tick' } as const];
    const next = candidates[Math.floor(this.dice('next') * candidates.length)] ?? { kind: 'tick' };
    const second = plan({ ...request, run: first.run, event: next, acted: [] });
    const both = planEvents({ ...request, events: [request.event, next] });
    expect(both.run).toEqual(second.run);
    expect(both.actions).toEqual([...first.actions, ...second.actions]);
    expect(both.events).toEqual([...first.events, ...second.events]);
    expect(new Set(both.changed)).toEqual(new Set([...first.changed, ...second.changed]));
  }

  private send(event: RunEvent): void {
    const acted = this.dice('act') < 0.5 ? this.unconfirmed : [];
    const request = {
      definition: this.given.definition,
      run: this.run,
      event,
      nowMs: this.nowMs,
      random: () => 0.5,
      limits: { maxParallelSteps: this.options.maxParallelSteps },
      acted,
    };
    const before = this.run;
    const text = JSON.stringify(before);
    const made = plan(request);
    // The engine crashes before saving: the same event and run give the same plan.
    if (this.dice('crash') < 0.3) expect(plan(request)).toEqual(made);
    if (this.dice('together') < 0.2) this.planTogether(request, made);
    hold(JSON.stringify(before) === text, 'the run that was handed in stays as it was');
    this.run = JSON.parse(JSON.stringify(made.run)) as RunState;
    this.check(before, made.actions, event.kind === 'tick');
    for (const { type, job_id } of made.events) {
      if (type === 'step_completed' && job_id !== undefined) this.succeeded.push(job_id);
    }
    for (const action of made.actions) this.execute(action);
    if (this.dice('twice') < 0.2) for (const action of made.actions) this.execute(action);
    this.unconfirmed = [...this.unconfirmed.filter((id) => !acted.includes(id)), ...made.actions.map(({ id }) => id)];
    if (event.kind !== 'tick' && event.kind !== 'start') this.old.push(event);
  }

  /** Idempotent like the engine's own actions: deduplicated by id. */
  private execute(action: Action): void {
    const isNew = !this.everAsked.has(action.id);
    this.everAsked.add(action.id);
    switch (action.kind) {
      case 'dispatchJob': {
        const status = chooseFate(this.given.fate, action.path, action.attempt);
        if (isNew) this.open.set(action.jobId, { kind: 'jobEnded', jobId: action.jobId, status, output: action.path });
        return;
      }
      case 'compensate':
        if (isNew) this.undone.push(action.undoes);
        if (isNew)
          this.open.set(action.jobId, { kind: 'jobEnded', jobId: action.jobId, status: this.undoEnd(action.jobId) });
        return;
      case 'startChild': {
        const { path = '', attempt = 0 } = childKeyParts(action.key) ?? {};
        const event = { kind: 'childRunEnded', key: action.key, childRunId: action.key, status: childEnd(chooseFate(this.given.fate, path, attempt)) } as const; // prettier-ignore
        if (isNew) this.open.set(action.key, event);
        return;
      }
      case 'openGate': {
        const approved = chance(this.given.fate, action.step) < 0.6;
        if (isNew) this.open.set(action.jobId, { kind: 'gateResolved', jobId: action.jobId, approved });
        return;
      }
      case 'cancelJob':
        // It may have ended before the cancellation: then it reports that.
        if (isNew && this.open.has(action.jobId) && this.dice('race') < 0.7) {
          this.open.set(action.jobId, { kind: 'jobEnded', jobId: action.jobId, status: 'CANCELLED' });
        }
        return;
      case 'setTimer':
        if (isNew) this.timers.set(action.timerId, action.atMs);
        return;
      case 'clearTimer':
        this.timers.delete(action.timerId);
        return;
      case 'finished':
        if (isNew) this.finished += 1;
        return;
    }
  }

  private undoEnd = (jobId: string): JobEnd => (chance(this.given.fate, jobId) < 0.8 ? 'SUCCEEDED' : 'FAILED');

  private check(before: RunState, actions: readonly Action[], isTick: boolean): void {
    if (isRunEnded(before.status)) {
      expect({ ...this.run, outbox: {} }).toEqual({ ...before, outbox: {} });
      if (!isTick) expect(actions).toEqual([]);
    }
    for (const action of isTick ? [] : actions) {
      if (action.kind !== 'clearTimer') hold(!this.everAsked.has(action.id), `${action.id} is asked for once`);
    }
    for (const action of actions) if (action.kind === 'dispatchJob' && !isTick) this.checkDependencies(action.step);
    const records = listSteps(this.run);
    hold(JSON.stringify(this.run.counts) === JSON.stringify(recount(records)), 'what is live is counted right');
    hold(new Set(this.run.ready).size === this.run.ready.length, 'no path is queued twice');
    hold(this.run.counts.jobs <= (this.options.maxParallelSteps || Infinity), 'no more jobs are out than may be');
    for (const [id, was] of Object.entries(before.steps)) {
      if (!isStepEnded(was.status) || /_(b|p|c\d)/.test(id)) continue;
      hold(this.run.steps[id]?.status === was.status, `${id} ends once`);
    }
  }

  private checkDependencies(id: string): void {
    const { depends_on = [] } = this.given.definition.steps[id] ?? {};
    const open = depends_on.filter((dep) => this.run.steps[dep]?.settled === undefined);
    hold(open.length === 0, `${id} begins when ${open.join()} is settled`);
  }
}

/** Cheaper than `expect`, which would be called a million times here. */
function hold(claim: boolean, what: string): void {
  if (!claim) throw new Error(`broken: ${what}`);
}

const childEnd = (end: JobEnd) =>
  (
    ({
      SUCCEEDED: 'succeeded',
      DENIED: 'denied',
      FAILED_FATAL: 'denied',
      TIMEOUT: 'timed_out',
      FAILED: 'failed',
    }) as const
  )[end as 'FAILED'];

const listSteps = (run: RunState): [string, StepRun][] =>
  Object.entries(run.steps).flatMap(([id, step]) => [
    [id, step] as [string, StepRun],
    ...(step.children ?? []).flatMap((child, i) => (child ? [[`${id}[${i}]`, child] as [string, StepRun]] : [])),
  ]);

/** Recomputes the counters from all records. */
function recount(records: readonly [string, StepRun][]) {
  const leaves = records.filter(([, { progress }]) => !progress);
  return {
    jobs: leaves.filter(([, { slot }]) => slot).length,
    busy: leaves.filter(([, one]) => one.status === 'running' || one.next_attempt_at_ms !== undefined).length,
    waiting: leaves.filter(([, { status }]) => status === 'waiting').length,
  };
}
