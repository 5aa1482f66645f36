import {
  AppError,
  type Caller,
  contextPointer,
  everyTenant,
  limits,
  type ReplayBody,
  type ReplayView,
} from '@svc/contract';
import type { Kernel, PolicyTrial } from '@svc/kernel-client';
import { compareReplay, topicGlob, type ReplayedJob } from '@svc/policy';
import type { JobSummary, Store } from '@svc/store';
import type { Random } from '@svc/platform';
import type { EffectiveConfig } from '@svc/settings';
import { buildPolicyRequest, policyPart, toConfigScope, toPolicyContent } from '@svc/decision';
import { askKernel } from './evaluate/evaluate-ask';
import { prepareCandidate, type SimulateBundleDeps } from './evaluate/evaluate-bundle';
import { decidedJobs, mapConcurrently, type FoundJobs, parseRange, timeRangeView } from './replay-jobs';

export interface ReplayDeps extends Pick<SimulateBundleDeps, 'maxContentBytes'> {
  store: Pick<Store, 'index' | 'data' | 'config' | 'policy' | 'redis'>;
  config: Pick<EffectiveConfig, 'at'>;
  kernel: Kernel;
  random: Pick<Random, 'uuid'>;
}

const atOnce = 16;
const without = ['velocity', 'content'] as const;
const effective = [
  'velocity rules are not replayed: windows of the past are gone',
  'content rules are not replayed',
  'the configuration of today was used, not that of the time',
];

/**
 * Evaluates past decisions about jobs again and reports the differences: with the policy in effect, or with a text in
 * place of a bundle. Nothing is counted or stored. See docs/reference/policy.md#replay.
 *
 * @throws invalid_body, tenant_access_denied, policy_validation_failed, request_too_large, safety_unavailable,
 *   upstream_service_error
 */
export async function replayPolicy(deps: ReplayDeps, caller: Caller, body: ReplayBody): Promise<ReplayView> {
  const range = parseRange(body);
  const tenants = await resolveTenants(deps, caller, body.filters.tenant);
  const trial = buildTrial(deps, body);
  const { jobs, isCut } = await findJobs(deps, tenants, body);

  let snapshot = '';
  const missing = { content: 0 };
  const failures: unknown[] = [];
  const replayed = await mapConcurrently(jobs, atOnce, async (job): Promise<ReplayedJob> => {
    const common = {
      jobId: job.id,
      topic: job.topic,
      tenant: job.tenant,
      original: getOriginal(job) ?? ('DENY' as const),
    };
    try {
      const decision = await askAgain(deps, job, trial, missing);
      snapshot = policyPart(decision.policy_snapshot);
      const { decision: verdict, rule_id: ruleId, reason } = decision;
      return { ...common, outcome: { kind: 'decided', verdict, ruleId, reason } };
    } catch (error) {
      failures.push(error);
      return { ...common, outcome: { kind: 'failed', error: error instanceof AppError ? error.message : 'failed' } };
    }
  });
  // Without an evaluated job there is nothing else to report.
  if (jobs.length > 0 && failures.length === jobs.length) throw failures[0];
  return {
    replay_id: deps.random.uuid(),
    policy_snapshot: snapshot || (await getSnapshotName(deps, trial)),
    time_range: timeRangeView(range),
    ...compareReplay(replayed),
    warnings: [
      ...effective,
      ...(isCut ? [`only the newest ${jobs.length} jobs were replayed`] : []),
      ...(missing.content > 0 ? [`the input of ${missing.content} jobs is gone or too large and was left out`] : []),
    ],
  };
}

/** @throws tenant_access_denied */
async function resolveTenants(
  { store }: ReplayDeps,
  caller: Caller,
  named: string | undefined,
): Promise<readonly string[]> {
  if (named && caller.scope !== everyTenant && named !== caller.tenant) throw new AppError('tenant_access_denied');
  if (named) return [named];
  return caller.scope === everyTenant ? store.index.tenants() : [caller.tenant];
}

/** @throws invalid_body, policy_validation_failed, request_too_large */
function buildTrial(deps: ReplayDeps, body: ReplayBody): PolicyTrial {
  const { candidate_bundle_id: id, candidate_content: content, use_current_policy } = body;
  if (id !== undefined && content !== undefined) return { candidate: prepareCandidate(deps, id, content), without };
  if (use_current_policy && id === undefined && content === undefined) return { without };
  const field = id === undefined && content !== undefined ? 'candidate_bundle_id' : 'candidate_content';
  const message = 'send use_current_policy true, or candidate_bundle_id with candidate_content';
  throw new AppError('invalid_body', { violations: [{ in: 'body', field, path: field, message }] });
}

/** Decisions made by policy, not by a fail mode. */
function getOriginal({ safety }: JobSummary): ReplayedJob['original'] | undefined {
  return safety && safety.decision !== 'UNAVAILABLE' ? safety.decision : undefined;
}

async function findJobs({ store }: ReplayDeps, tenants: readonly string[], body: ReplayBody): Promise<FoundJobs> {
  const { topic_pattern, original_decision } = body.filters;
  const isOfTopic = topic_pattern ? topicGlob(topic_pattern) : () => true;
  const fits = (job: JobSummary) => {
    const verdict = getOriginal(job);
    const atMs = (job.safety?.checked_at ?? 0) / 1_000;
    if (!verdict || atMs < body.from || atMs > body.to) return false;
    return isOfTopic(job.topic.toLowerCase()) && (!original_decision || verdict === original_decision);
  };
  const found: FoundJobs = { jobs: [], isCut: false };
  for (const tenant of tenants) {
    const most = body.max_jobs - found.jobs.length;
    const { jobs, isCut } = await decidedJobs(store, tenant, fits, { fromMs: body.from, most });
    found.jobs.push(...jobs);
    found.isCut ||= isCut;
  }
  return found;
}

async function askAgain(deps: ReplayDeps, job: JobSummary, trial: PolicyTrial, missing: { content: number }) {
  const { store, config, kernel } = deps;
  const [content, effective] = await Promise.all([readContent(store, job), config.at(toConfigScope(job, 'team'))]);
  if (content === undefined) missing.content += 1;
  const question = buildPolicyRequest(job, content ?? toPolicyContent(null), effective);
  return askKernel(() => kernel.simulate(question, trial));
}

/** The content that policy evaluated; undefined when it no longer exists. */
export async function readContent({ data }: Pick<Store, 'data'>, job: JobSummary): Promise<string | undefined> {
  const text = await data.context(contextPointer(job), limits.contextBytes);
  if (!text) return undefined;
  try {
    return toPolicyContent(JSON.parse(text.toString('utf8')) as Parameters<typeof toPolicyContent>[0]);
  } catch {
    return undefined;
  }
}

/** The view of a policy that evaluated no job. */
async function getSnapshotName({ kernel }: ReplayDeps, trial: PolicyTrial): Promise<string> {
  const { policy_snapshot } = await askKernel(() => kernel.simulate({ topic: 'job.none' }, trial));
  return policyPart(policy_snapshot);
}
