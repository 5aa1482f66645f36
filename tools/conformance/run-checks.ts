import { checks, type Check } from './checks';
import type { Platform } from './platform';
import { Session, type SessionOptions, unlessEnded } from './session';
import { Mismatch, NotApplicable, type CheckResult, type Verdict } from './verdict';

export interface Report {
  worker_id: string;
  pool: string;
  sdk_version: string;
  checks: CheckResult[];
}

/**
 * Runs the checks one after the other. A check that fails does not stop the next ones.
 *
 * @param only ids of the checks to run; default all
 * @throws Mismatch when no worker of the pool announces itself
 */
export async function runChecks(
  platform: Platform,
  options: SessionOptions,
  { only = [], onResult = () => undefined }: { only?: readonly string[]; onResult?(result: CheckResult): void } = {},
): Promise<Report> {
  const session = await Session.open(platform, options);
  const results: CheckResult[] = [];
  for (const check of checks.filter(({ id }) => only.length === 0 || only.includes(id))) {
    const startedMs = performance.now();
    const verdict = await judge(check, session);
    const { id, title } = check;
    const result = { id, title, durationMs: Math.round(performance.now() - startedMs), ...verdict };
    results.push(result);
    onResult(result);
  }
  const handshake = platform.from('handshake', session.workerId).at(-1);
  const sdk_version = handshake?.body.sdk_version ?? '';
  return { worker_id: session.workerId, pool: options.pool, sdk_version, checks: results };
}

async function judge(check: Check, session: Session): Promise<Verdict> {
  try {
    // The last check stops the worker.
    const process = check.stopsWorker ? undefined : session.options.process;
    await unlessEnded(process, 'a worker that keeps running', check.run(session));
    return { outcome: 'passed' };
  } catch (error) {
    if (error instanceof NotApplicable) return { outcome: 'not_applicable', reason: error.message };
    if (error instanceof Mismatch) return { outcome: 'failed', expected: error.expected, seen: error.seen };
    const seen = error instanceof Error ? error.message : String(error);
    return { outcome: 'failed', expected: 'no error of the bus or the store', seen };
  }
}
