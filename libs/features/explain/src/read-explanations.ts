import type { ExplainView, JobExplanation, TenantScope } from '@svc/contract';
import { explainJob } from './explain-job';
import { explainRun } from './explain-run';
import { type ExplainDeps, gatherJobFacts } from './gather-job-facts';
import { type ExplainRunDeps, gatherRunFacts } from './gather-run-facts';

/**
 * Why a job does not run, or how it ended, for REST and whoever else asks.
 *
 * @throws job_not_found, tenant_access_denied
 */
export async function readJobExplanation(deps: ExplainDeps, scope: TenantScope, id: string): Promise<JobExplanation> {
  return explainJob(await gatherJobFacts(deps, scope, id));
}

/**
 * Why a run is where it is, and each of its steps.
 *
 * @throws run_not_found, tenant_access_denied
 */
export async function readRunExplanation(deps: ExplainRunDeps, scope: TenantScope, id: string): Promise<ExplainView> {
  const { definition, run, jobs, ...around } = await gatherRunFacts(deps, scope, id);
  return explainRun(definition, run, jobs, around);
}
