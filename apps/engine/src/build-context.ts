import { subjects } from '@svc/contract';
import { openPlacement, type WorkerRegistry } from '@svc/dispatch';
import { dataTokensFrom, grantSignerFrom, resultTicketsFrom } from '@svc/identity';
import type { Kernel } from '@svc/kernel-client';
import {
  randomIds,
  type Boot,
  type dispatchMetrics,
  type EngineEnv,
  type Handles,
  type kernelMetrics,
} from '@svc/runtime';
import type { JobEndings, ResultJob } from '@svc/store';
import { admissionSettings, SnapshotAdmission } from '@svc/admission';
import { publishCancelled } from '@svc/jobs';
import { DatasetRepository, EvalRunRepository } from '@svc/evals';
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
  registry: WorkerRegistry;
  endings: JobEndings;
  kernel: Kernel;
  events: RunEvents;
  metrics: Handles<typeof kernelMetrics & typeof dispatchMetrics>;
}

/** Builds the dependencies shared by processors and loops. */
export function buildContext(boot: Boot<EngineEnv>, parts: ContextParts): EngineContext {
  const { platform, fleet, registry, endings, kernel, events, metrics } = parts;
  const { env, clock, log } = boot;
  const { store, bus, senderId } = platform;
  const base = { store, clock, random: { ...randomIds(), number: () => Math.random() } };
  const admission = new SnapshotAdmission(store.load, admissionSettings(env), (limit) =>
    log.oncePer(`admission:${limit}`, 10_000).warn('jobs of runs delayed by admission control', { limit }),
  );
  const config = new EffectiveConfig(store, clock);
  const enforcement = env.schemaEnforcement;
  const topics = openTopics({ store, clock, fleet, config, events: topicLog(log), enforcement });
  const onPublishFailed = (jobId: string, error: unknown) =>
    log.warn('publishing a job event failed; retrying', { job_id: jobId, error });
  const ctx: Omit<EngineContext, 'schedules'> = {
    ...base,
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
    placement: openPlacement(
      boot,
      {
        isEnabled: env.dispatchAtSubmission,
        isReadinessRequired: env.workerReadinessRequired,
        dataTokens: dataTokensFrom(env),
        dataUrlBase: env.dataUrlBase,
        tickets: resultTicketsFrom<ResultJob>(env),
        grants: grantSignerFrom(env),
      },
      { ...base, platform, fleet, registry, config, endings, metrics },
    ),
    schemas: topics.schemas,
    evals: {
      ...base,
      kernel,
      config,
      topics,
      datasets: new DatasetRepository(store),
      evalRuns: new EvalRunRepository(store, env.evalRunTtlSec * 1_000),
    },
    definitions: new DefinitionCache(store, clock),
    memory: new RunCache(),
    events,
    onPublishFailed,
    onCancelled: (ids) =>
      void publishCancelled(
        {
          ...base,
          bus: jobBus(bus),
          senderId,
          onPublishFailed,
          onCancelledByLimit: (limit) => metrics.cancelledByLimits.inc({ limit }),
        },
        ids,
      ),
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
