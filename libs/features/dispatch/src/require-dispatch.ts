import { bootIdLabel, dispatchEchoLabel, type DispatchIdentity, type Heartbeat } from '@svc/contract';
import type { MissingDispatch, ReportKind, SchedulingDeps } from './scheduling-deps';

/*
 * Job ids and worker ids are visible in heartbeats; the dispatch id is only in the dispatch, so a report without one is easy
 * to forge. Workers older than dispatch identities send none and must keep working. The id is therefore required from each
 * worker that has sent one or announces in its heartbeats that it does.
 */

type Echoed = DispatchIdentity | undefined;
type EchoDeps = Pick<SchedulingDeps, 'registry' | 'store' | 'events' | 'settings'>;

/** An attempt number alone can be guessed. */
const namesDispatch = (dispatch: Echoed): boolean => (dispatch?.dispatch_id ?? '') !== '';

/**
 * Whether a report must be ignored because it has no dispatch id. Such a report costs one read, unless the worker's record
 * is cached.
 */
export async function lacksRequiredDispatch(
  deps: EchoDeps,
  kind: ReportKind,
  workerId: string,
  report: { job_id: string; dispatch?: Echoed },
): Promise<boolean> {
  if (namesDispatch(report.dispatch)) return false;
  const reason = await requirementFor(deps, kind, workerId);
  if (reason) deps.events.reportWithoutDispatch(kind, reason, workerId, report.job_id);
  return reason !== undefined;
}

async function requirementFor(
  { registry, store, settings }: EchoDeps,
  kind: ReportKind,
  workerId: string,
): Promise<MissingDispatch | undefined> {
  if (settings.dispatchIdRequired) return 'required_by_setting';
  // Some workers send it only in results; their progress must keep counting.
  if (kind === 'progress' && !registry.namesInProgress(workerId)) return undefined;
  const isKnown = registry.isEchoKnown(workerId) || (await store.workers.echoesDispatch(workerId));
  return isKnown ? 'worker_echoes' : undefined;
}

/**
 * Records from a valid report that the worker sends dispatch ids. Writes once per worker process. After a crash before the
 * write, the next report is recorded.
 */
export async function learnEcho(
  { registry, store, clock }: Pick<SchedulingDeps, 'registry' | 'store' | 'clock'>,
  workerId: string,
  dispatch: Echoed,
): Promise<void> {
  if (!namesDispatch(dispatch) || registry.isEchoKnown(workerId)) return;
  // Reports have no boot id. Recording one of a process that is not the sender is harmless: it expires without heartbeats.
  const boots = registry.processes(workerId);
  await store.workers.keepEcho(workerId, 'learn', boots, registry.ttlMs);
  registry.setEcho(workerId, true, boots.at(-1) ?? '', clock.nowMs());
}

/** Records on the first heartbeat of a process whether it sends dispatch ids, and reads what other schedulers recorded. */
export async function keepEcho(
  { registry, store, clock }: Pick<SchedulingDeps, 'registry' | 'store' | 'clock'>,
  { worker_id: id, labels }: Heartbeat,
): Promise<void> {
  const boot = labels[bootIdLabel] ?? '';
  if (!registry.isEchoNew(id, boot)) return;
  const isKnown = await store.workers.keepEcho(id, toEchoMode(labels), [boot], registry.ttlMs);
  registry.setEcho(id, isKnown, boot, clock.nowMs());
}

/** Renews that record, where it is due. */
export async function renewEcho(
  { registry, store, clock }: Pick<SchedulingDeps, 'registry' | 'store' | 'clock'>,
  { worker_id: id, labels }: Heartbeat,
): Promise<void> {
  const boot = labels[bootIdLabel] ?? '';
  if (!registry.isEchoDue(id, boot, clock.nowMs())) return;
  const isKnown = await store.workers.renewEcho(id, toEchoMode(labels), boot, registry.ttlMs);
  registry.setEcho(id, isKnown, boot, clock.nowMs());
}

const toEchoMode = (labels: Heartbeat['labels']) => (labels[dispatchEchoLabel] === 'true' ? 'announce' : 'keep');
