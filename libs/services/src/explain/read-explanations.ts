import type { JobExplanation, TenantScope } from '@svc/contract';
import { explainJob } from './explain-job';
import { gatherJobFacts, type ExplainDeps } from './gather-job-facts';

/**
 * Why a job does not run, or how it ended, for REST and whoever else asks.
 *
 * @throws job_not_found, tenant_access_denied
 */
export async function readJobExplanation(deps: ExplainDeps, scope: TenantScope, id: string): Promise<JobExplanation> {
  return explainJob(await gatherJobFacts(deps, scope, id));
}
