import { type Caller, type LicenseUsage } from '@svc/contract';
import type { License } from '@svc/identity';
import { allowedPromptChars } from '@svc/jobs';
import type { Clock } from '@svc/platform';
import { readStoredBundles } from '@svc/policy-admin';
import type { Store } from '@svc/store';
import { toLicenseSummary } from './license-view';
import { type LicensedCounts, UsageRepository } from './usage.repository';

export interface LicenseDeps {
  store: Store;
  clock: Pick<Clock, 'nowMs'>;
  license: License;
  /** TENANT_ID: its admins run the installation. */
  defaultTenant: string;
  /** Limits of the configuration, which a license narrows. */
  settings: { requestsPerSecond: number; bodyBytes: number; artifactBytes: number };
}

/** Bundles of this prefix are managed with the API for bundles; others belong to workflows and velocity rules. */
const COUNTED_BUNDLES = 'secops/';

/** Counts of the installation that limits of the license are compared with. */
export const readLicensedCounts = ({ store, clock }: Pick<LicenseDeps, 'store' | 'clock'>): Promise<LicensedCounts> =>
  new UsageRepository(store.redis, store.keys).counts(clock.nowMs());

/** Use of the limits of the license. See docs/operations.md#license. */
export async function readLicenseUsage(deps: LicenseDeps, { tenant }: Pick<Caller, 'tenant'>): Promise<LicenseUsage> {
  const { store, license, settings } = deps;
  const state = license.state();
  const { entitlements: granted } = state;
  const [counts, { bundles }, tenants] = await Promise.all([
    readLicensedCounts(deps),
    readStoredBundles(deps),
    store.tenants.count(),
  ]);
  const { registeredWorkers: registered, connectedWorkers: connected } = counts;
  return {
    tenant_id: tenant,
    plan: state.plan,
    license: toLicenseSummary(state),
    usage: {
      workers: {
        current: Math.max(registered, connected),
        allowed: toAllowed(granted.max_workers),
        registered,
        connected,
      },
      concurrent_jobs: { current: counts.jobsWithWorkers, allowed: toAllowed(granted.max_concurrent_jobs) },
      active_workflows: { current: counts.activeRuns, allowed: toAllowed(granted.max_active_workflows) },
      workflow_steps: { allowed: toAllowed(granted.max_workflow_steps) },
      schemas: { current: counts.schemas, allowed: toAllowed(granted.max_schema_count) },
      policy_bundles: {
        current: [...bundles.keys()].filter((id) => id.startsWith(COUNTED_BUNDLES)).length,
        allowed: toAllowed(granted.max_policy_bundles),
      },
      tenants: { current: tenants, allowed: toAllowed(granted.max_tenants) },
      requests_per_second: { allowed: narrowest(settings.requestsPerSecond, granted.requests_per_second) },
      prompt_chars: { allowed: allowedPromptChars(granted.max_prompt_chars) },
      body_bytes: { allowed: narrowest(settings.bodyBytes, granted.max_body_bytes) },
      artifact_bytes: { allowed: narrowest(settings.artifactBytes, granted.max_artifact_bytes) },
      approval_mode: { allowed: granted.approval_mode },
    },
  };
}

/** 0 means that the plan sets no limit. */
const toAllowed = (granted: number): number => (granted > 0 ? granted : -1);

const narrowest = (configured: number, granted: number): number =>
  granted > 0 ? Math.min(configured, granted) : configured;
