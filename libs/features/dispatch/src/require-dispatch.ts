import { bootIdLabel, dispatchEchoLabel, type DispatchIdentity, type Heartbeat } from '@svc/contract';
import type { MissingDispatch, ReportKind, SchedulingDeps } from './scheduling-deps';

/*
 * Job ids and worker ids can be read from heartbeats; a dispatch id is only in the dispatch itself. So a report that names no
 * dispatch is as easy to forge as it is to leave the field out. Workers built before dispatch identities name none and must
 * keep working. Hence the id is required of each worker that was seen to send it, or says in its heartbeats that it does.
 */

type Echoed = DispatchIdentity | undefined;
type EchoDeps = Pick<SchedulingDeps, 'registry' | 'store' | 'events' | 'settings'>;

/** An attempt number alone can be guessed. */
const namesDispatch = (dispatch: Echoed): boolean => (dispatch?.dispatch_id ?? '') !== '';

/**
 * Whether a report must be ignored because it names no dispatch. Costs nothing for reports that do; for others, one read
 * unless this scheduler knows the worker's record already.
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
  // Some workers name it in results alone, and their progress must keep counting.
  if (kind === 'progress' && !registry.namesInProgress(workerId)) return undefined;
  const isKnown = registry.isEchoKnown(workerId) || (await store.workers.echoesDispatch(workerId));
  return isKnown ? 'worker_echoes' : undefined;
}

/**
 * Learns from a report that counted for the current dispatch and named it. Writes once per process of a worker: afterwards
 * the worker is known. After a crash before the write, its next report teaches the same.
 */
export async function learnEcho(
  { registry, store, clock }: Pick<SchedulingDeps, 'registry' | 'store' | 'clock'>,
  workerId: string,
  dispatch: Echoed,
): Promise<void> {
  if (!namesDispatch(dispatch) || registry.isEchoKnown(workerId)) return;
  // Reports carry no boot id. That of a process which is not the sender is no loss: without heartbeats it is not renewed.
  const boots = registry.processes(workerId);
  await store.workers.keepEcho(workerId, 'learn', boots, registry.ttlMs);
  registry.setEcho(workerId, true, boots.at(-1) ?? '', clock.nowMs());
}

/** Renews the record with a heartbeat, and reads what other schedulers have learned. */
export async function keepEcho(
  { registry, store, clock }: Pick<SchedulingDeps, 'registry' | 'store' | 'clock'>,
  { worker_id: id, labels }: Heartbeat,
): Promise<void> {
  const boot = labels[bootIdLabel] ?? '';
  if (!registry.isEchoDue(id, boot, clock.nowMs())) return;
  const mode = labels[dispatchEchoLabel] === 'true' ? 'announce' : 'keep';
  const isKnown = await store.workers.keepEcho(id, mode, [boot], registry.ttlMs);
  registry.setEcho(id, isKnown, boot, clock.nowMs());
}
