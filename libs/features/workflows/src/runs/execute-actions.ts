import { alertPacket, AppError, subjects } from '@svc/contract';
import { createHash } from 'node:crypto';
import type { Action, OpenJob, RunEvent, StartChild } from '@svc/workflow';
import { closeGate, escalateGate, remindGate } from '@svc/approvals';
import { cancelJob, writeWithheldLetter } from '@svc/jobs';
import { Fenced } from '@svc/store';
import { acceptJob, JobRefused, type OwnedRun } from './accept-job';
import { runAgent } from './run-agent';
import type { RunDeps } from './run-deps';
import { createRun, toStartedVersion } from './create-run';
import { buildCompensation, buildStepJob, openGate } from './step-jobs';

export interface ExecutionResult {
  /** Events that the actions returned: the input of the next iteration. */
  events: RunEvent[];
  /** `postponed`: some actions failed and must be retried; `fenced`: another process owns the run. Absent: all are done. */
  incomplete?: 'postponed' | 'fenced';
}

/** Two full batches of calls. */
const maxConcurrency = 96;

/**
 * Executes the actions of a saved pass. Each is idempotent. Actions that end something run last, so that nothing is
 * stopped before it was started.
 */
export async function executeActions(
  deps: RunDeps,
  owned: OwnedRun,
  actions: readonly Action[],
): Promise<ExecutionResult> {
  const events: RunEvent[] = [];
  let [isPostponed, isFenced] = [false, false];
  const run = async (action: Action) => {
    try {
      const event = await execute(deps, owned, action);
      if (event) events.push(event);
    } catch (error) {
      isFenced ||= error instanceof Fenced;
      if (isFenced) return;
      isPostponed = true;
      deps.events.postponed(owned.run.id, action.id, error);
    }
  };
  const begins = actions.filter((action) => !stops.has(action.kind));
  const ends = actions.filter((action) => stops.has(action.kind));
  for (const part of [begins, ends]) {
    for (let i = 0; i < part.length && !isFenced; i += maxConcurrency)
      await Promise.all(part.slice(i, i + maxConcurrency).map(run));
  }
  if (isFenced) return { events, incomplete: 'fenced' };
  return isPostponed ? { events, incomplete: 'postponed' } : { events };
}

const stops: ReadonlySet<Action['kind']> = new Set(['cancelJob', 'cancelChild', 'closeGate', 'finished']);

async function close(deps: RunDeps, { jobId, approved }: Action & { kind: 'closeGate' }): Promise<void> {
  const isClosed = await closeGate(
    deps,
    jobId,
    approved,
    approved ? 'approved by the rule of the gate' : 'no decision in time',
  );
  if (isClosed && !approved) deps.events.gateExpired();
}

/** @throws errors that are worth a retry */
async function execute(deps: RunDeps, owned: OwnedRun, action: Action): Promise<RunEvent | undefined> {
  switch (action.kind) {
    case 'dispatchJob':
      return unlessRefused(action.jobId, async () => acceptJob(deps, owned, await buildStepJob(deps, owned, action)));
    case 'compensate':
      return unlessRefused(action.jobId, () => acceptJob(deps, owned, buildCompensation(owned, action)));
    case 'cancelJob':
      return cancel(deps, owned, action.jobId, action.reason);
    case 'openGate':
      return unlessRefused(action.jobId, async () => {
        await openGate(deps, owned, action);
        return undefined;
      });
    case 'closeGate':
      await close(deps, action);
      return undefined;
    case 'remindGate':
      await remindGate(deps, action.jobId);
      return undefined;
    case 'escalateGate':
      await escalateGate(deps, action.jobId, action.role);
      return undefined;
    case 'startChild':
      return startChild(deps, owned, action);
    case 'cancelChild':
      return cancelChild(deps, owned, action.key, action.reason);
    case 'notify':
      await notify(deps, owned, action.alert);
      return undefined;
    case 'writeDeadLetters':
      for (const jobId of action.jobIds) await writeWithheldLetter(deps, jobId);
      return undefined;
    case 'finished':
      if (action.parentKey && owned.run.parent) {
        const ended = { kind: 'childRunEnded', key: action.parentKey, childRunId: owned.run.id, status: action.status };
        await deps.store.runs.post('*', owned.run.parent.run_id, ended);
      }
      return undefined;
    case 'setTimer':
    case 'clearTimer':
      // Written with the run itself.
      return undefined;
  }
}

/** A rejected job, and one that another answers for, never ends by itself: its end is reported here. */
async function unlessRefused(jobId: string, accept: () => Promise<OpenJob | undefined>): Promise<RunEvent | undefined> {
  try {
    const openJob = await accept();
    return openJob && { kind: 'jobEnded', jobId, status: 'SUCCEEDED', openJob };
  } catch (error) {
    if (!(error instanceof JobRefused)) throw error;
    return { kind: 'jobEnded', jobId, status: 'FAILED_FATAL', error: error.message, code: error.code };
  }
}

async function cancel(deps: RunDeps, { run }: OwnedRun, jobId: string, reason: string): Promise<RunEvent | undefined> {
  try {
    await cancelJob(deps, run.org_id, jobId, reason);
    return undefined;
  } catch (error) {
    if (!(error instanceof AppError) || error.errorCode !== 'job_not_found') throw error;
    // The job was never created, so no event will report its end.
    return { kind: 'jobEnded', jobId, status: 'CANCELLED', error: reason };
  }
}

/** Derived from the start key, so that repeating the start creates no second run. */
export function childRunId(key: string): string {
  const hex = createHash('sha256').update(key).digest('hex');
  return [hex.slice(0, 8), hex.slice(8, 12), `8${hex.slice(13, 16)}`, `8${hex.slice(17, 20)}`, hex.slice(20, 32)].join(
    '-',
  );
}

/** @throws run_not_runnable, overloaded: at capacity, retried later; Fenced */
async function startChild(deps: RunDeps, { run, owner }: OwnedRun, action: StartChild): Promise<RunEvent> {
  const id = childRunId(action.key);
  const refused = (message: string, code: string): RunEvent => ({
    kind: 'childRunEnded',
    key: action.key,
    childRunId: id,
    status: 'failed',
    error: { message, code },
  });
  const found = await deps.store.workflows.get(run.org_id, action.workflowId);
  if (found.kind !== 'found') return refused(`there is no workflow ${action.workflowId}`, 'workflow_not_found');
  try {
    await createRun(deps, toStartedVersion(found.value), {
      id,
      of: {
        ...(run.team_id && { team_id: run.team_id }),
        ...(run.triggered_by && { triggered_by: run.triggered_by }),
        ...(run.dry_run && { dry_run: true }),
        ...(run.labels && { labels: run.labels }),
        metadata: {
          ...(run.metadata?.['submitter'] && { submitter: run.metadata['submitter'] }),
          ...(run.metadata?.[runAgent] && { [runAgent]: run.metadata[runAgent] }),
          parent_run_id: run.id,
          parent_step_id: action.step,
        },
        ...(action.retried && { retried: true }),
        parent: { run_id: run.id, step_id: action.step, key: action.key },
        call_stack: action.callStack,
      },
      input: action.input,
      partOf: { run: run.id, owner },
    });
  } catch (error) {
    if (!(error instanceof AppError) || retryable(error)) throw error;
    return refused(error.message, error.errorCode);
  }
  return { kind: 'childStarted', key: action.key, childRunId: id };
}

const retryable = ({ errorCode }: AppError): boolean => errorCode === 'run_not_runnable' || errorCode === 'overloaded';

async function cancelChild(
  deps: RunDeps,
  { run }: OwnedRun,
  key: string,
  reason: string,
): Promise<RunEvent | undefined> {
  const id = childRunId(key);
  const outcome = await deps.store.runs.post(run.org_id, id, { kind: 'cancel', reason });
  if (outcome.kind === 'posted') return undefined;
  // An ended child reports its own end; a child that was never created cannot.
  return outcome.kind === 'ended' ? undefined : { kind: 'childRunEnded', key, childRunId: id, status: 'cancelled' };
}

const severities = ['info', 'warning', 'error', 'critical'] as const;

type Alert = Extract<Action, { kind: 'notify' }>['alert'];

/** Publishes on sys.workflow.event. See docs/reference/workflows.md#steps. */
async function notify(deps: RunDeps, { run }: OwnedRun, alert: Alert): Promise<void> {
  const severity = severities.find((one) => one === alert.level) ?? 'info';
  const head = { trace_id: alert.trace_id || run.id, sender_id: deps.senderId, nowUs: deps.clock.nowUs() };
  const { message, component } = alert;
  const platformDetails = { run_id: run.id, workflow_id: run.workflow_id, tenant: run.org_id };
  // The platform's own keys win, so that no definition can publish in the name of another tenant or run.
  const details = { ...toDetails(alert.details), ...platformDetails };
  await deps.bus.publish(subjects.workflowEvent.name, alertPacket(head, { severity, message, component, details }));
}

/** `details` of a notify step as the string map of an alert: other values as JSON, a non-map under the key `details`. */
function toDetails(details: unknown): Record<string, string> {
  if (details === undefined || details === null) return {};
  const isMap = typeof details === 'object' && !Array.isArray(details);
  const entries = Object.entries(isMap ? details : { details }) as [string, unknown][];
  return Object.fromEntries(
    entries.map(([key, value]) => [key, typeof value === 'string' ? value : JSON.stringify(value)]),
  );
}
