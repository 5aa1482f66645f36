import type { Bus } from '@svc/bus';
import { consumers, streams, subjects } from '@svc/contract';
import { dataTokensFrom, grantSignerFrom, resultTicketsFrom } from '@svc/identity';
import type { Kernel } from '@svc/kernel-client';
import { otherLabel, randomIds, type Boot, type Handles, type kernelMetrics, type SchedulerEnv } from '@svc/runtime';
import { admissionSettings, SnapshotAdmission } from '@svc/admission';
import { EffectiveConfig } from '@svc/settings';
import {
  LaneDispatcher,
  InFlightRecords,
  ReportStates,
  type SchedulingEvents,
  releaseRevokedWorker,
  StartWrites,
  type WorkerRegistry,
} from '@svc/dispatch';
import { openShadows } from '@svc/policy-lab';
import { openTopics, topicLog } from '@svc/registry';
import { type ResultFacts, ScanRunner } from '@svc/output-safety';
import { cancelOpenJob, type DataUrlSettings } from '@svc/jobs';
import { jobBus, licenseLimits, type Fleet, type Platform } from '@svc/platform';
import type { ResultJob } from '@svc/store';
import { type WorkerTrust, WorkerTrustRepository } from '@svc/worker-trust';
import type { SchedulerContext } from './context';

export interface ContextParts {
  platform: Platform;
  registry: WorkerRegistry;
  trust: WorkerTrust;
  fleet: Fleet;
  kernel: Kernel;
  events: SchedulingEvents;
  metrics: Handles<typeof kernelMetrics>;
}

const busFlushTimeoutMs = 1_000;
const resultsCaughtUpTimeoutMs = 2_000;

async function isBusResponsive(bus: Bus): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<false>((resolve) => (timer = setTimeout(() => resolve(false), busFlushTimeoutMs)));
  const flushed = bus.flush().then(
    () => true,
    () => false,
  );
  return Promise.race([flushed, late]).finally(() => clearTimeout(timer));
}

/** Builds the dependencies shared by processors, consumers and loops. */
export function buildContext(boot: Boot<SchedulerEnv>, parts: ContextParts): SchedulerContext {
  const { env, clock, log } = boot;
  const { platform, registry, trust, fleet, kernel, events, metrics } = parts;
  const { store, bus, license, senderId } = platform;
  const config = new EffectiveConfig(store, clock, env.configReloadIntervalMs);
  const enforcement = env.schemaEnforcement;
  const admission = new SnapshotAdmission(store.load, admissionSettings(env), (limit) =>
    log.oncePer(`admission:${limit}`, 10_000).warn('job from the bus rejected by admission control', { limit }),
  );
  const base = { store, clock, random: { ...randomIds(), number: () => Math.random() }, senderId, bus: jobBus(bus) };
  const starts = new StartWrites({ ...base, events });
  boot.onStop('starts', () => starts.flush());
  const deps = {
    ...base,
    kernel,
    shadows: openShadows(boot, {
      store,
      kernel,
      metrics,
      onConfigChanged: (run) => void bus.subscribe(subjects.configChanged, run),
    }),
    busAnswers: () => isBusResponsive(bus),
    resultsHandled: () => bus.isCaughtUp(consumers.schedulerResult, resultsCaughtUpTimeoutMs).catch(() => false),
    withdrawDispatch: (seq: number) =>
      bus.withdraw({ stream: streams.jobs.name, seq }).catch((error: unknown) => {
        log.warn('deleting the message of a superseded dispatch failed', { seq, error });
      }),
    admission,
    dataUrls: dataUrlSettings(env),
    tickets: resultTicketsFrom<ResultJob>(env),
    grants: grantSignerFrom(env),
    config,
    topics: openTopics({ store, clock, fleet, config, events: topicLog(log), enforcement }),
    fleet,
    registry,
    inFlight: new InFlightRecords(),
    reports: new ReportStates(clock),
    starts,
    events,
    license: licenseLimits(license),
    settings: {
      policyFailMode: env.policyCheckFailMode,
      approvalTtlMs: env.approvalTtlMs,
      deadLetterTtlSec: env.dlqEntryTtlDays * 86_400,
      readinessRequired: env.workerReadinessRequired,
      outputPolicyEnabled: env.outputPolicyEnabled,
      outputFailMode: env.outputPolicyFailMode,
      outputMetaTimeoutMs: env.outputMetaTimeoutMs,
      defaultDeadline: env.defaultDeadline,
      dispatchIdRequired: env.dispatchIdRequired,
    },
    wake: (workerId: string) => void flush(workerId),
    claimWithEnd: (workerId: string) => laneDispatcher.claimWithEnd(workerId),
    wakeNew: (workerId: string) => {
      void flush(workerId).then((jobs) => {
        const pool = registry.findRoutable(workerId, clock.nowMs())?.pool;
        if (jobs > 0 && pool !== undefined)
          events.flushed(Object.hasOwn(fleet.pools().pools, pool) ? pool : otherLabel, jobs);
      });
    },
    onDeadLetterFailed: (topic: string) => events.deadLetterFailed(topic),
    scanSoon: (job: ResultJob, result: ResultFacts) => scans.soon(job, result),
  };
  // These need `deps`, which refers to them; no callback runs before they are assigned.
  const laneDispatcher: LaneDispatcher = new LaneDispatcher(deps);
  const flush = (workerId: string) =>
    laneDispatcher.dispatchTo(workerId).catch((error: unknown) => {
      log.warn('dispatch loop failed', { worker_id: workerId, error });
      return 0;
    });
  const scans = new ScanRunner(deps);
  registry.restrict((id) => trust.scopeOf(id));
  trust.onRevoked((workerId) => {
    // After a crash here its silence releases the jobs.
    void releaseRevokedWorker(deps, workerId).catch((error: unknown) =>
      log.warn('releasing the jobs of a revoked worker failed', { worker_id: workerId, error }),
    );
  });
  const agentStops = {
    ...deps,
    trust: new WorkerTrustRepository(store.redis),
    onNoticeFailed: (error: unknown) => log.warn('change notice not published', { error }),
    cancelJob: (id: string, reason: string) =>
      cancelOpenJob({ ...deps, onPublishFailed: (jobId, error) => events.publishFailed(jobId, error) }, id, reason),
  };
  return {
    ...deps,
    agentStops,
    trust,
    laneDispatcher,
    defaultTenant: env.defaultTenant,
    refreshLoad: () => admission.refresh(),
  };
}

/** Settings of data URLs; undefined unless both the signing key and the gateway's base URL are configured. */
function dataUrlSettings(env: SchedulerEnv): DataUrlSettings | undefined {
  const tokens = dataTokensFrom(env);
  return tokens && env.dataUrlBase ? { tokens, base: env.dataUrlBase } : undefined;
}
