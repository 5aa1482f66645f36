import { effectsLabel, storeAccessLabel } from '@svc/contract';
import type { Base, JobBus } from '@svc/platform';
import type { EffectiveConfig } from '@svc/settings';
import type { DispatchedJob } from '@svc/store';
import { type DataUrlSettings, dataUrlsFor } from '@svc/jobs';
import { dispatchPacket, toConfigScope } from '@svc/decision';
import type { InFlightRecords } from './in-flight-records';
import { type GrantDeps, grantSeal } from './dispatch-grants';
import { inlineDataFor, type InlineDataDeps } from './inline-data';
import { rollBack } from './roll-back';
import type { SchedulingEvents } from './scheduling-deps';
import type { StartWrites } from './start-writes';
import type { WorkerRegistry } from './worker-registry';

export interface SendDeps extends Base, Pick<InlineDataDeps, 'tickets'>, Pick<GrantDeps, 'grants'> {
  bus: JobBus;
  config: Pick<EffectiveConfig, 'textAt'>;
  registry: Pick<WorkerRegistry, 'adjustActive' | 'announces' | 'mayHave'>;
  /** Undefined: dispatches have no data URLs. */
  dataUrls?: DataUrlSettings | undefined;
  /** Absent in processes that handle no results. */
  inFlight?: InFlightRecords;
  starts: Pick<StartWrites, 'expect' | 'confirm' | 'drop'>;
  senderId: string;
  events: Pick<SchedulingEvents, 'dispatched' | 'rolledBack'>;
}

/**
 * Publishes a dispatch whose transition to DISPATCHED is written. After a crash in between, the reconciler publishes again
 * under the same message id, so the worker executes it once. A rejected publish is rolled back.
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
  const { subject, packet } = dispatchPacket(job, deps.senderId, nowUs, config, {
    dataUrls: dataUrls(deps, job),
    inline,
    seal: grantSeal(deps, job, deps.clock.nowMs()),
  });
  deps.starts.expect(job, nowUs);
  deps.inFlight?.remember(running);
  let stored: { seq: number } | void;
  try {
    stored = await deps.bus.publishDurable(subject, packet);
  } catch (error) {
    deps.inFlight?.forget(job.id);
    deps.starts.drop(job.id);
    await rollBack(deps, job, error);
    return;
  }
  deps.starts.confirm(job, stored?.seq ?? 0);
  deps.events.dispatched(job.topic, (nowUs - job.created_at) / 1_000);
}

/** Signing URLs costs more than the rest of the packet, so workers that do not need them get none. */
function dataUrls({ dataUrls: settings, registry, clock }: SendDeps, job: DispatchedJob): Record<string, string> {
  const nowMs = clock.nowMs();
  const effectOnly = registry.announces(job.worker_id, storeAccessLabel, nowMs);
  if (effectOnly && !registry.mayHave(job.worker_id, effectsLabel, nowMs)) return {};
  return dataUrlsFor(settings, job, nowMs, { effectOnly });
}
