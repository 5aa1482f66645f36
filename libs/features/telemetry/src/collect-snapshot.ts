import type { TelemetryMode, TelemetrySnapshot } from '@svc/contract';
import { readLicensedCounts } from '@svc/license';
import { readStoredBundles } from '@svc/policy-admin';
import type { TelemetryDeps } from './telemetry-deps';

const SCHEMA_VERSION = 1;
const DAY_US = 86_400_000_000;

/** Counts and switches of the installation. Contains no names, ids or content; see the type. */
export async function collectSnapshot(deps: TelemetryDeps, mode: TelemetryMode): Promise<TelemetrySnapshot> {
  const { clock, license, random, settings, repository } = deps;
  const { plan, entitlements } = license.state();
  const nowUs = clock.nowUs();
  const [installId, counts, { bundles }, totals, topics] = await Promise.all([
    repository.installId(random.hex(32)),
    readLicensedCounts(deps),
    readStoredBundles(deps),
    deps.countWork(nowUs - DAY_US),
    deps.countTopics(),
  ]);
  const isReached = (current: number, allowed: number) => Number(allowed > 0 && current >= allowed);
  return {
    schema_version: SCHEMA_VERSION,
    collected_at: new Date(clock.nowMs()).toISOString(),
    install_id: installId,
    mode,
    version: settings.version,
    tier: plan,
    workers: { registered: counts.registeredWorkers, connected: counts.connectedWorkers },
    usage: {
      active_jobs: counts.jobsWithWorkers,
      active_workflow_runs: counts.activeRuns,
      jobs_last_24h: totals.jobs,
      workflow_runs_last_24h: totals.runs,
      schemas: counts.schemas,
      policy_bundles: bundles.size,
    },
    features_enabled: {
      user_auth: settings.userAuth,
      oidc: settings.oidc,
      output_policy: settings.outputPolicy,
      schemas: counts.schemas > 0,
      policy_bundles: bundles.size > 0,
      topics: topics > 0,
      workflows: totals.workflows > 0,
      packs: false,
    },
    engagement: {
      topics_configured: topics,
      workflows_configured: totals.workflows,
      packs_installed: 0,
      user_auth_enabled: settings.userAuth,
      oidc_enabled: settings.oidc,
      output_policy_enabled: settings.outputPolicy,
    },
    limits_hit: {
      workers: isReached(Math.max(counts.registeredWorkers, counts.connectedWorkers), entitlements.max_workers),
      concurrent_jobs: isReached(counts.jobsWithWorkers, entitlements.max_concurrent_jobs),
      active_workflows: isReached(counts.activeRuns, entitlements.max_active_workflows),
      schemas: isReached(counts.schemas, entitlements.max_schema_count),
      policy_bundles: isReached(bundles.size, entitlements.max_policy_bundles),
    },
  };
}
