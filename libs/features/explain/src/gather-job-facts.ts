import { checkAgent } from '@svc/agents';
import type { TenantScope } from '@svc/contract';
import type { BreakerStatus, Kernel } from '@svc/kernel-client';
import type { RoutableWorker } from '@svc/routing';
import type { JobRecord, WorkerSnapshot } from '@svc/store';
import type { Base, Fleet, LicenseLimits } from '@svc/platform';
import { type BoundarySettings, type EffectiveConfig, routingRules } from '@svc/settings';
import { findJob } from '@svc/jobs';
import type { TopicDeps } from '@svc/registry';
import type { AgentFacts, ExplainSettings, JobFacts, WorkerFacts } from './job-facts';
import { toConfigScope } from '@svc/decision';

export interface ExplainDeps extends Pick<Base, 'store' | 'clock'> {
  fleet: Fleet;
  config: EffectiveConfig;
  topics: Pick<TopicDeps, 'registry'>;
  kernel: Pick<Kernel, 'breakers'>;
  /** What the credentials of workers permit, as this process routes by it. */
  registry: { scopeOf(workerId: string): RoutableWorker['scope'] };
  license(): LicenseLimits;
  settings: Omit<ExplainSettings, keyof BoundarySettings> & BoundarySettings;
}

/** Facts shared by all jobs, read once for those explained together. */
export interface SharedFacts {
  workers: readonly WorkerFacts[];
  schedulerSeenMs?: number;
  breaker?: BreakerStatus;
}

export async function gatherSharedFacts(deps: ExplainDeps): Promise<SharedFacts> {
  const { store, kernel } = deps;
  // An unreadable breaker state is omitted; the other facts are still reported.
  const [snapshot, breakers] = await Promise.all([store.workers.snapshot(), kernel.breakers().catch(() => undefined)]);
  if (!snapshot) return { workers: [], ...(breakers && { breaker: breakers.input }) };
  const workers = await readWorkers(deps, snapshot);
  const schedulerSeenMs = Date.parse(snapshot.captured_at);
  return { workers, schedulerSeenMs, ...(breakers && { breaker: breakers.input }) };
}

/** Workers that were live at the time of the snapshot, with current job counts: the snapshot is seconds old. */
async function readWorkers(
  { store, settings, registry }: ExplainDeps,
  snapshot: WorkerSnapshot,
): Promise<WorkerFacts[]> {
  const capturedMs = Date.parse(snapshot.captured_at);
  const live = snapshot.workers.filter(({ last_heartbeat_ms: at }) => capturedMs - at <= settings.workerTtlMs);
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
    lastHeartbeatMs: worker.last_heartbeat_ms,
    scope: registry.scopeOf(worker.worker_id),
  }));
}

/** @throws job_not_found, tenant_access_denied */
export async function gatherJobFacts(deps: ExplainDeps, scope: TenantScope, id: string): Promise<JobFacts> {
  const [job, shared] = await Promise.all([findJob(deps, scope, id), gatherSharedFacts(deps)]);
  return buildJobFacts(deps, job, shared);
}

export async function buildJobFacts(deps: ExplainDeps, job: JobRecord, shared: SharedFacts): Promise<JobFacts> {
  const { store, clock, fleet, topics, license, settings } = deps;
  const [position, history, topic, config, rules, limitUsage, agent] = await Promise.all([
    store.queuePositions.of(job),
    store.jobs.events(job.id),
    topics.registry.find(job.tenant, job.topic),
    deps.config.at(toConfigScope(job)),
    routingRules(deps),
    store.limits.usage(job, clock.nowMs()),
    readAgent(deps, job),
  ]);
  return {
    nowMs: clock.nowMs(),
    job,
    history,
    position,
    ...(limitUsage && { limitUsage }),
    topic,
    ...(agent && { agent }),
    config,
    pools: fleet.pools(),
    timeouts: fleet.timeouts(),
    licenseCap: license().maxConcurrentJobs,
    settings: { ...settings, ...rules },
    ...shared,
  };
}

async function readAgent(deps: ExplainDeps, job: JobRecord): Promise<AgentFacts | undefined> {
  const { agent_id: id } = job.request;
  if (!id) return undefined;
  const [record, check] = await Promise.all([deps.store.agents.get(id), checkAgent(deps, job)]);
  return check && { check, ...(record?.tenant === job.tenant && { record }) };
}
