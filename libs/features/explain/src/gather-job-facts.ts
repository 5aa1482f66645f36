import type { TenantScope } from '@svc/contract';
import type { BreakerStatus, Kernel } from '@svc/kernel-client';
import type { JobRecord, WorkerSnapshot } from '@svc/store';
import type { Base, Fleet, LicenseLimits } from '@svc/platform';
import { type BoundarySettings, type EffectiveConfig, routingRules } from '@svc/settings';
import { findJob } from '@svc/jobs';
import type { TopicDeps } from '@svc/registry';
import type { ExplainSettings, JobFacts, SeenWorker } from './job-facts';
import { toConfigScope } from '@svc/decision';

export interface ExplainDeps extends Pick<Base, 'store' | 'clock'> {
  fleet: Fleet;
  config: EffectiveConfig;
  topics: Pick<TopicDeps, 'registry'>;
  kernel: Pick<Kernel, 'breakers'>;
  license(): LicenseLimits;
  settings: Omit<ExplainSettings, keyof BoundarySettings> & BoundarySettings;
}

/** What holds for every job at one moment, read once for all that are explained together. */
export interface Surroundings {
  workers: readonly SeenWorker[];
  schedulerSeenMs?: number;
  breaker?: BreakerStatus;
}

export async function gatherSurroundings(deps: ExplainDeps): Promise<Surroundings> {
  const { store, kernel } = deps;
  // The breaker's state is one of many facts: whoever asks while it cannot be read is told the others.
  const [snapshot, breakers] = await Promise.all([store.workers.snapshot(), kernel.breakers().catch(() => undefined)]);
  if (!snapshot) return { workers: [], ...(breakers && { breaker: breakers.input }) };
  const workers = await seenWorkers(deps, snapshot);
  const schedulerSeenMs = Date.parse(snapshot.captured_at);
  return { workers, schedulerSeenMs, ...(breakers && { breaker: breakers.input }) };
}

/** Those that were live when the picture was taken, with our own count of their jobs: the picture is seconds old. */
async function seenWorkers({ store, settings }: ExplainDeps, snapshot: WorkerSnapshot): Promise<SeenWorker[]> {
  const takenMs = Date.parse(snapshot.captured_at);
  const live = snapshot.workers.filter(({ last_heartbeat_ms: at }) => takenMs - at <= settings.workerTtlMs);
  const counts = live.length === 0 ? [] : await store.workers.inFlightCounts(live.map(({ worker_id }) => worker_id));
  return live.map((worker, i) => ({
    id: worker.worker_id,
    pool: worker.pool,
    active: counts[i] ?? worker.active_jobs,
    maxParallel: worker.max_parallel_jobs,
    cpuLoad: worker.cpu_load,
    gpuLoad: worker.gpu_utilization,
    memoryLoad: worker.memory_load,
    capabilities: worker.capabilities,
    labels: worker.labels,
    readyTopics: worker.ready_topics,
    announced: worker.ready_topics.length > 0,
    draining: worker.draining,
    lastHeardMs: worker.last_heartbeat_ms,
  }));
}

/** @throws job_not_found, tenant_access_denied */
export async function gatherJobFacts(deps: ExplainDeps, scope: TenantScope, id: string): Promise<JobFacts> {
  const [job, around] = await Promise.all([findJob(deps, scope, id), gatherSurroundings(deps)]);
  return factsOf(deps, job, around);
}

export async function factsOf(deps: ExplainDeps, job: JobRecord, around: Surroundings): Promise<JobFacts> {
  const { store, clock, fleet, topics, license, settings } = deps;
  const [standing, history, topic, config, rules] = await Promise.all([
    store.standing.of(job),
    store.jobs.events(job.id),
    topics.registry.find(job.tenant, job.topic),
    deps.config.at(toConfigScope(job)),
    routingRules(deps),
  ]);
  return {
    nowMs: clock.nowMs(),
    job,
    history,
    standing,
    topic,
    config,
    pools: fleet.pools(),
    timeouts: fleet.timeouts(),
    licenseCap: license().maxConcurrentJobs,
    settings: { ...settings, ...rules },
    ...around,
  };
}
