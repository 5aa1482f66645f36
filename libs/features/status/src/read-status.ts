import { everyTenant, managedScope, type Caller, type LicenseSummary, type StatusView } from '@svc/contract';
import type { JobState } from '@svc/lifecycle';
import type { Store } from '@svc/store';
import type { Clock } from '@svc/platform';

/** Facts of this process for the status response. */
export interface StatusDeps {
  store: Store;
  clock: Clock;
  /** TENANT_ID: its admins run the installation. */
  defaultTenant: string;
  startedAtMs: number;
  build: { version: string; commit: string; date: string };
  instanceId: string;
  /** Problems of the store, for operators. */
  storeFindings(): readonly Record<string, string>[];
  /** Problems of a rejected policy, for operators; the last valid one is in effect. */
  policyFindings(): readonly Record<string, string>[];
  bus(): { isConnected: boolean; url: string };
  license(): LicenseSummary;
  /** Open streams of this gateway. */
  activeStreams(): number;
  rateLimiterMode: 'redis' | 'memory';
  breakers(): Promise<Record<string, unknown>>;
  failOpenTotal(): number;
  openHandles(): number;
  environment: Record<string, unknown>;
  /** Which rules are in effect, and problems of the environment, for operators. */
  rules: { rules: 'production' | 'development'; findings: readonly Record<string, string>[] };
}

const keptMs = 2_000;
const newest = 500;
const kept = new WeakMap<object, Map<string, { status: StatusView; untilMs: number }>>();

/** Admins of the default tenant and admins for all tenants are operators; only they see addresses, hosts and findings. */
type Audience = 'tenant' | 'tenant_admin' | 'operator';

const getAudience = ({ defaultTenant }: StatusDeps, caller: Caller): Audience => {
  if (caller.role !== 'admin') return 'tenant';
  return managedScope(caller, defaultTenant) === everyTenant ? 'operator' : 'tenant_admin';
};

/**
 * State of the installation, cached for 2 s for each tenant and audience. See docs/reference/http.md#probes-and-status.
 *
 * @returns whether the status was computed by this call
 */
export async function readStatus(deps: StatusDeps, caller: Caller): Promise<{ status: StatusView; fresh: boolean }> {
  const audience = getAudience(deps, caller);
  const key = `${audience}:${caller.tenant}`;
  const cache = kept.get(deps) ?? new Map<string, { status: StatusView; untilMs: number }>();
  kept.set(deps, cache);
  const found = cache.get(key);
  if (found && found.untilMs > deps.clock.nowMs()) return { status: found.status, fresh: false };
  const status = {
    ...(await forAll(deps, caller.tenant)),
    ...(audience !== 'tenant' && (await forTenantAdmins(deps))),
    ...(audience === 'operator' && (await forOperators(deps))),
  };
  if (cache.size > 1_000) cache.clear();
  cache.set(key, { status, untilMs: deps.clock.nowMs() + keptMs });
  return { status, fresh: true };
}

async function forAll(deps: StatusDeps, tenant: string): Promise<StatusView> {
  const { store, clock } = deps;
  const { counts, workers, redis } = await readStore(deps, tenant);
  const bus = deps.bus();
  return {
    time: new Date(clock.nowMs()).toISOString(),
    uptime_seconds: Math.floor((clock.nowMs() - deps.startedAtMs) / 1_000),
    goroutine_count: deps.openHandles(),
    active_ws_clients: deps.activeStreams(),
    nats_status: bus.isConnected ? 'CONNECTED' : 'DISCONNECTED',
    // Requests of a process share one connection, so there is no pool to hit or miss.
    redis_pool_stats: {
      ...{ hits: 0, misses: 0, timeouts: 0, idle_conns: 0, stale_conns: 0 },
      total_conns: store.redis.status === 'ready' ? 1 : 0,
    },
    build: deps.build,
    nats: { connected: bus.isConnected, status: bus.isConnected ? 'connected' : 'disconnected' },
    redis: { ok: redis.ok, status: redis.status },
    workers: { count: workers },
    pipeline: pipeline(counts),
    license: deps.license(),
  };
}

interface StoreState {
  counts: ReadonlyMap<JobState, number>;
  workers: number;
  redis: { ok: boolean; status: string; error?: string };
}

/** While Redis is unavailable, the status says so instead of failing. */
async function readStore({ store }: StatusDeps, tenant: string): Promise<StoreState> {
  try {
    const [counts, snapshot] = await Promise.all([
      store.index.pipelineCounts(tenant, newest),
      store.workers.snapshot(),
    ]);
    return { counts, workers: snapshot?.workers.length ?? 0, redis: { ok: true, status: 'ok' } };
  } catch (error) {
    const message = error instanceof Error ? error.message : 'unknown';
    return { counts: new Map(), workers: 0, redis: { ok: false, status: 'unavailable', error: message } };
  }
}

function pipeline(counts: ReadonlyMap<JobState, number>): Record<string, number> {
  const sum = (...states: JobState[]) => states.reduce((total, state) => total + (counts.get(state) ?? 0), 0);
  return {
    pending: sum('PENDING', 'APPROVAL_REQUIRED', 'SCHEDULED', 'RETRYING'),
    dispatched: sum('DISPATCHED'),
    running: sum('RUNNING'),
    succeeded: sum('SUCCEEDED'),
    failed: sum('FAILED', 'CANCELLED', 'TIMEOUT', 'OUTPUT_QUARANTINED'),
    denied: sum('DENIED'),
  };
}

async function forTenantAdmins(deps: StatusDeps): Promise<Partial<StatusView>> {
  return {
    policy: { ok: deps.policyFindings().length === 0 },
    rate_limiter: { mode: deps.rateLimiterMode },
    circuit_breakers: await deps.breakers(),
    input_fail_open_total: deps.failOpenTotal(),
  };
}

async function forOperators(deps: StatusDeps): Promise<Partial<StatusView>> {
  const { store } = deps;
  const bus = deps.bus();
  const known = {
    nats: { connected: bus.isConnected, status: bus.isConnected ? 'connected' : 'disconnected', url: bus.url },
    policy: { ok: deps.policyFindings().length === 0, findings: deps.policyFindings() },
    instance_id: deps.instanceId,
    environment: deps.rules,
    ha_env: deps.environment,
  };
  const findings = deps.storeFindings();
  try {
    const [instances, snapshot] = await Promise.all([
      store.workers.instances(['gateway', 'scheduler', 'engine', 'kernel']),
      store.workers.snapshot(),
    ]);
    const replicas: Record<string, unknown[]> = {};
    for (const instance of instances) (replicas[instance.service] ??= []).push(instance);
    return {
      ...known,
      redis: { ok: true, status: 'ok', findings },
      ...(snapshot && { snapshot_meta: { writer_id: snapshot.writer_id, captured_at: snapshot.captured_at } }),
      replicas,
    };
  } catch (error) {
    const message = error instanceof Error ? error.message : 'unknown';
    return { ...known, redis: { ok: false, status: 'unavailable', error: message, findings } };
  }
}
