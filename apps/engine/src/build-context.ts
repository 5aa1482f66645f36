import { subjects } from '@svc/contract';
import type { Kernel } from '@svc/kernel-client';
import { randomIds, type Boot, type EngineEnv, type Handles, type kernelMetrics } from '@svc/runtime';
import { admissionSettings, SnapshotAdmission } from '@svc/admission';
import { DefinitionCache, type RunEvents, RunCache } from '@svc/workflows';
import { EffectiveConfig } from '@svc/settings';
import { openShadows } from '@svc/policy-lab';
import { openTopics, topicLog } from '@svc/registry';
import { jobBus, type Fleet, type Platform } from '@svc/platform';
import type { EngineContext } from './context';
import { scheduleDeps } from './schedule-deps';

export interface ContextParts {
  platform: Platform;
  fleet: Fleet;
  kernel: Kernel;
  events: RunEvents;
  metrics: Handles<typeof kernelMetrics>;
}

/** Builds the dependencies shared by processors and loops. */
export function buildContext(boot: Boot<EngineEnv>, parts: ContextParts): EngineContext {
  const { platform, fleet, kernel, events, metrics } = parts;
  const { env, clock, log } = boot;
  const { store, bus, senderId } = platform;
  const admission = new SnapshotAdmission(store.load, admissionSettings(env), (limit) =>
    log.oncePer(`admission:${limit}`, 10_000).warn('jobs of runs delayed by admission control', { limit }),
  );
  const config = new EffectiveConfig(store, clock);
  // No schema enforcement: the gateway and the scheduler validate the inputs and outputs of jobs.
  const topics = openTopics({ store, clock, fleet, config, events: topicLog(log), enforcement: undefined });
  const ctx: Omit<EngineContext, 'schedules'> = {
    store,
    clock,
    random: { ...randomIds(), number: () => Math.random() },
    bus: jobBus(bus),
    senderId,
    kernel,
    shadows: openShadows(boot, {
      store,
      kernel,
      metrics,
      onConfigChanged: (run) => void bus.subscribe(subjects.configChanged, run),
    }),
    config,
    admission,
    fleet,
    topics,
    schemas: topics.schemas,
    definitions: new DefinitionCache(store, clock),
    memory: new RunCache(),
    events,
    onPublishFailed: (jobId, error) => log.warn('publishing a job event failed; retrying', { job_id: jobId, error }),
    settings: {
      instanceId: env.instanceId,
      lockMs: env.queueLockMs,
      idempotencyTtlSec: Math.ceil(env.idempotencyTtlMs / 1_000),
      maxItems: env.foreachMaxItems,
      expressions: {
        maxLength: env.exprMaxLength,
        maxResultItems: env.exprMaxResultItems,
        timeoutMs: env.exprTimeoutMs,
      },
      keepSec: Math.ceil(env.runRetentionMs / 1_000),
      approvalTtlMs: env.approvalTtlMs,
      deadLetterTtlSec: env.dlqEntryTtlDays * 86_400,
    },
    refreshLoad: () => admission.refresh(),
  };
  return { ...ctx, schedules: scheduleDeps(ctx, platform) };
}
