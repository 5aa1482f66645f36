import { jobCancelPacket, storeAccessLabel, subjects } from '@svc/contract';
import type { Base, JobBus } from '@svc/platform';
import type { EffectiveConfig } from '@svc/settings';
import type { JobRecord } from '@svc/store';
import { type DataUrlSettings, dataUrlsFor } from '@svc/jobs';
import { dispatchIdentity, dispatchPacket, toConfigScope } from '@svc/decision';
import type { InFlightRecords } from './in-flight-records';
import { inlineDataFor, type InlineDataDeps } from './inline-data';
import { rollBack } from './roll-back';
import type { SchedulingEvents } from './scheduling-deps';
import type { WorkerRegistry } from './worker-registry';

export interface SendDeps extends Base, Pick<InlineDataDeps, 'tickets'> {
  bus: JobBus;
  config: Pick<EffectiveConfig, 'textAt'>;
  registry: Pick<WorkerRegistry, 'adjustActive' | 'announces'>;
  /** Undefined: dispatches have no data URLs. */
  dataUrls?: DataUrlSettings | undefined;
  /** Absent in processes that handle no results. */
  inFlight?: InFlightRecords;
  senderId: string;
  events: Pick<SchedulingEvents, 'dispatched' | 'rolledBack'>;
}

export type DispatchedJob = JobRecord & { worker_id: string; dispatch_id: string };

/**
 * Publishes a dispatch whose transition to DISPATCHED is written, and records that the worker has it. After a crash in
 * between, the reconciler publishes again under the same message id, so the worker executes it once. A rejected publish is
 * rolled back.
 *
 * @param context the input document, if this process has it
 */
export async function sendDispatch(deps: SendDeps, job: DispatchedJob, context?: string): Promise<void> {
  const nowUs = deps.clock.nowUs();
  // The result may arrive before the bus has confirmed the publish, so the job counts as running from the publish on.
  const running: DispatchedJob = { ...job, state: 'RUNNING', started_at: nowUs };
  const [config, inline] = await Promise.all([
    deps.config.textAt(toConfigScope(job)),
    inlineDataFor(deps, running, context),
  ]);
  const { subject, packet } = dispatchPacket(job, deps.senderId, nowUs, config, dataUrls(deps, job), inline);
  deps.inFlight?.remember(running);
  let stored: { seq: number } | void;
  try {
    stored = await deps.bus.publishDurable(subject, packet);
  } catch (error) {
    deps.inFlight?.forget(job.id);
    await rollBack(deps, job, error);
    return;
  }
  // Refused when the worker has already sent its result.
  const outcome = await deps.store.jobs.move('*', job.id, 'start', {
    dispatchId: job.dispatch_id,
    set: { started_at: nowUs, dispatch_seq: stored?.seq ?? 0 },
  });
  // The job was ended or preempted between the write and the publish, and the cancel reached the worker before the job.
  if (outcome.kind === 'refused' && ['CANCELLED', 'TIMEOUT', 'RETRYING'].includes(outcome.state)) {
    const head = { trace_id: job.trace_id, sender_id: deps.senderId, nowUs: deps.clock.nowUs() };
    const cancel = {
      job_id: job.id,
      reason: 'taken back before it arrived',
      requested_by: deps.senderId,
      dispatch: dispatchIdentity(job),
    };
    await deps.bus.publish(subjects.jobCancel.name, jobCancelPacket(head, cancel));
  }
  deps.events.dispatched(job.topic, (nowUs - job.created_at) / 1_000);
}

/** Signing three URLs costs more than the rest of the packet, so workers that do not need them get none. */
function dataUrls({ dataUrls: settings, registry, clock }: SendDeps, job: DispatchedJob): Record<string, string> {
  const nowMs = clock.nowMs();
  return registry.announces(job.worker_id, storeAccessLabel, nowMs) ? {} : dataUrlsFor(settings, job, nowMs);
}
