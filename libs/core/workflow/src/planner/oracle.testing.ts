import { switchCases, switchDefault } from '../definition/links';
import type { StepDefinition } from '../definition/workflow';
import type { JobEnd } from './events';
import { chance, type Case } from './generate.testing';

/** End of a job; depends only on its path and attempt. */
export function chooseFate(seed: number, path: string, attempt: number): JobEnd {
  const number = chance(seed, path, attempt);
  if (number < 0.72) return 'SUCCEEDED';
  if (number < 0.84) return 'FAILED';
  if (number < 0.88) return 'TIMEOUT';
  return number < 0.94 ? 'FAILED_FATAL' : 'DENIED';
}

export interface Expected {
  /** Several when the result depends on the order of ends. */
  statuses: string[];
  settled: 'ok' | 'neutral' | 'bad';
}

/**
 * Reference implementation: computes the end of each step when siblings finish, by recursion over the definition and the
 * ends of its jobs, without order, counters or queues.
 */
export class Oracle {
  private readonly known = new Map<string, Expected>();
  private readonly attempts = new Map<string, number>();
  private readonly steps: Record<string, StepDefinition>;

  constructor(private readonly given: Case) {
    this.steps = given.definition.steps;
  }

  get topLevel(): string[] {
    return Object.keys(this.steps).filter((id) => !/_(b|p|c\d)/.test(id));
  }

  verdict(id: string): Expected {
    const found = this.known.get(id) ?? this.judge(id);
    this.known.set(id, found);
    return found;
  }

  private isHandler = (id: string): boolean => Object.values(this.steps).some(({ on_error }) => on_error === id);

  private judge(id: string): Expected {
    const step = this.steps[id] ?? {};
    if (this.isHandler(id)) {
      const handled = Object.keys(this.steps).filter((other) => this.steps[other]?.on_error === id);
      const isNeeded = handled.some((other) => this.verdict(other).statuses.some(isFailure));
      return isNeeded ? this.withHandler(step, this.own(id)) : verdict('skipped', 'neutral');
    }
    const deps = (step.depends_on ?? []).map((dep) => this.verdict(dep).settled);
    if (this.cancelBranch(id)) return verdict('cancelled', 'neutral');
    const [good, bad] = [deps.includes('ok'), deps.includes('bad')];
    if (bad && !(step.join === 'any' && good)) return verdict('skipped', 'bad');
    if (deps.length > 0 && !good) return verdict('skipped', 'neutral');
    if (step.condition === 'false' && step.type !== 'condition') return verdict('skipped', 'ok');
    return this.withHandler(step, this.own(id));
  }

  private withHandler({ on_error }: StepDefinition, own: Expected): Expected {
    if (own.settled === 'ok' || on_error === undefined) return own;
    const rescue = this.withHandler(this.steps[on_error] ?? {}, this.own(on_error));
    this.known.set(on_error, rescue);
    return { ...own, settled: rescue.settled };
  }

  private cancelBranch(id: string): boolean {
    return (this.steps[id]?.depends_on ?? []).some((dep) => {
      const step = this.steps[dep];
      return step?.type === 'switch' && this.verdict(dep).settled === 'ok' && this.findTarget(step) !== id;
    });
  }

  private findTarget(step: StepDefinition): unknown {
    const fitting = switchCases(step).find(({ match }) => String(match) === step.condition);
    return (fitting?.target ?? switchDefault(step))?.id;
  }

  /** End of a step once it began. Memoized: a job ends one way. */
  private own(id: string): Expected {
    const key = `own ${id}`;
    const found = this.known.get(key) ?? this.execute(id);
    this.known.set(key, found);
    return found;
  }

  private execute(id: string): Expected {
    const step = this.steps[id] ?? {};
    const input = step.input ?? {};
    if (step.for_each) return this.items(id, step);
    switch (step.type) {
      case undefined:
      case 'subworkflow':
        return this.job(id, step);
      case 'approval':
        return chance(this.given.fate, id) < 0.6 ? verdict('succeeded', 'ok') : verdict('denied', 'bad');
      case 'switch':
        return this.findTarget(step) === undefined ? verdict('failed', 'bad') : verdict('succeeded', 'ok');
      case 'parallel': {
        const children = toList(input['steps']).map((child) => this.job(child, this.steps[child] ?? {}));
        const good = children.filter(({ settled }) => settled === 'ok').length;
        const needed = children.length === 0 ? 0 : Number(input['required'] ?? children.length);
        return good >= needed ? verdict('succeeded', 'ok') : verdict('failed', 'bad');
      }
      case 'loop':
        return this.rounds(id, step);
      default:
        return verdict('succeeded', 'ok');
    }
  }

  private rounds(id: string, step: StepDefinition): Expected {
    const body = step.input?.['body_step'];
    for (let round = 0; round < Number(step.input?.['max_iterations']); round++) {
      const one = typeof body === 'string' ? this.body(body) : this.job(`${id}[${round}]`, step);
      if (one.settled === 'bad') return { statuses: one.statuses, settled: 'bad' };
    }
    return verdict('succeeded', 'ok');
  }

  /** One round, with its error handler if needed. */
  private body(id: string): Expected {
    const own = this.execute(id);
    const handler = this.steps[id]?.on_error;
    return own.settled === 'bad' && handler ? { ...own, settled: this.job(handler, {}).settled } : own;
  }

  private items(id: string, step: StepDefinition): Expected {
    const count = Number(step.for_each?.at(-1));
    const all = Array.from({ length: count }, (_, i) => this.job(`${id}[${i}]`, step));
    const bad = all.filter(({ settled }) => settled === 'bad').map(({ statuses: [status = ''] }) => status);
    if (bad.length === 0) return verdict('succeeded', 'ok');
    return { statuses: step.fail_fast === false ? bad.slice(0, 1) : [...new Set(bad)], settled: 'bad' };
  }

  private job(path: string, step: StepDefinition): Expected {
    for (let attempt = 1; ; attempt++) {
      const number = (this.attempts.get(path) ?? 0) + 1;
      this.attempts.set(path, number);
      const fate = chooseFate(this.given.fate, path, number);
      if (fate === 'SUCCEEDED') return verdict('succeeded', 'ok');
      const isFinal = fate === 'FAILED_FATAL' || fate === 'DENIED' || attempt > (step.retry?.max_retries ?? 0);
      const isDenied = fate === 'DENIED' || (fate === 'FAILED_FATAL' && step.type === 'subworkflow');
      if (isFinal) return verdict(isDenied ? 'denied' : fate === 'TIMEOUT' ? 'timed_out' : 'failed', 'bad');
    }
  }
}

const verdict = (status: string, settled: Expected['settled']): Expected => ({ statuses: [status], settled });
const isFailure = (status: string): boolean => ['failed', 'denied', 'timed_out'].includes(status);
const toList = (steps: unknown): string[] => {
  if (Array.isArray(steps)) return steps.map(String);
  return String(steps ?? '').split(', ').filter((id) => id !== ''); // prettier-ignore
};
