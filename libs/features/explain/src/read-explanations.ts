import type { ExplainView, JobExplanation, TenantScope } from '@svc/contract';
import { explainJob } from './explain-job';
import { explainRun } from './explain-run';
import { type ExplainDeps, gatherJobFacts } from './gather-job-facts';
import { type ExplainRunDeps, gatherRunFacts } from './gather-run-facts';

/**
 * Explains why a job does not run, or how it ended.
 *
 * @throws job_not_found, tenant_access_denied
 */
export async function readJobExplanation(deps: ExplainDeps, scope: TenantScope, id: string): Promise<JobExplanation> {
  return explainJob(await gatherJobFacts(deps, scope, id));
}

/**
 * Explains the state of a run and of each of its steps.
 *
 * @throws run_not_found, tenant_access_denied
 */
export async function readRunExplanation(deps: ExplainRunDeps, scope: TenantScope, id: string): Promise<ExplainView> {
  const { definition, run, jobs, ...context } = await gatherRunFacts(deps, scope, id);
  return explainRun(definition, run, jobs, context);
}
