import { hash } from 'node:crypto';

/** A step id, or one item of a fan-out (a round of a loop without a body): `weigh`, `weigh[2]`. */
export interface PathParts {
  step: string;
  index?: number;
}

/** Step ids hold no `[`, `@` or `:`. See docs/reference/workflows.md#steps. */
export function pathParts(path: string): PathParts {
  if (!path.endsWith(']')) return { step: path };
  const open = path.lastIndexOf('[');
  return { step: path.slice(0, open), index: Number(path.slice(open + 1, -1)) };
}

export const itemPath = (step: string, index: number): string => `${step}[${index}]`;
export const attemptId = (runId: string, path: string, attempt: number): string => `${runId}:${path}@${attempt}`;
export const childKey = (runId: string, path: string, attempt: number): string => `sub:${runId}:${path}:${attempt}`;
export const buildTimerId = (runId: string, path: string, attempt: number, purpose: string): string =>
  `${attemptId(runId, path, attempt)}#${purpose}`;
export const runTimerId = (runId: string, purpose: string): string => `${runId}#${purpose}`;

const attemptPattern = /^([^:@#]+):([^:@#]+)@(\d+)(?:#(\w+))?$/;
const childPattern = /^sub:([^:]+):([^:]+):(\d+)$/;
const runTimerPattern = /^([^:@#]+)#(\w+)$/;

export interface AttemptParts {
  runId: string;
  path: string;
  attempt: number;
}

/** Parses the job id of a run's step; undefined for any other id. */
export const jobIdParts = (jobId: string): AttemptParts | undefined => attemptParts(attemptPattern.exec(jobId));
export const childKeyParts = (key: string): AttemptParts | undefined => attemptParts(childPattern.exec(key));

/** Parses a timer id; `of` is absent for timers of the run itself. */
export function timerParts(timerId: string): { runId: string; purpose: string; of?: AttemptParts } | undefined {
  const own = runTimerPattern.exec(timerId);
  if (own?.[1] && own[2]) return { runId: own[1], purpose: own[2] };
  const match = attemptPattern.exec(timerId);
  const of = attemptParts(match);
  return of && match?.[4] ? { runId: of.runId, purpose: match[4], of } : undefined;
}

function attemptParts(match: RegExpExecArray | null): AttemptParts | undefined {
  const [, runId, path, attempt] = match ?? [];
  return runId && path && attempt ? { runId, path, attempt: Number(attempt) } : undefined;
}

/** Deterministic ids of a compensation job. */
export function undoIds(about: readonly string[]): { jobId: string; idempotencyKey: string } {
  const hex = hash('sha256', JSON.stringify(about));
  const uuid = [hex.slice(0, 8), hex.slice(8, 12), `8${hex.slice(13, 16)}`, `8${hex.slice(17, 20)}`, hex.slice(20, 32)];
  return { jobId: `comp-${uuid.join('-')}`, idempotencyKey: `saga:${hex.slice(0, 32)}` };
}
