import { buildFacts, type Facts } from '../compile/facts';
import type { Policy } from '../compile/merge-policies';
import { isPermitting } from '../document/words';
import type { ScanContent } from './content';
import { afterContentRules } from './content-rules';
import { configLists, tenantBreach } from './lists';
import { denial, toRecord, type Outcome } from './outcome';
import type { PolicyDecision, PolicyRequest } from './request';
import { Search, type Asking } from './search';
import type { RuleTrace } from './trace';

/** `velocity`: rules with a window never fire. `content`: content rules are not run. */
export type EvaluationPart = 'velocity' | 'content';

export interface EvaluationOptions {
  /** `VELOCITY_FAIL_MODE`; default closed. See docs/reference/policy.md#velocity. */
  velocityFailMode?: 'open' | 'closed';
  /** Scans content; without it, rules that need scanning use `input_policy.fail_mode`. */
  scanContent?: ScanContent;
  /** Steps to skip, as when a past decision is evaluated again. See docs/reference/policy.md#replay. */
  without?: readonly EvaluationPart[];
  /** Receives one entry for every rule considered. */
  trace?: RuleTrace[];
  /** Called with an error that became a denial, since the decision does not contain it. */
  onError?: (error: unknown) => void;
}

/**
 * Decides one request, without action checks. It does no I/O: it yields velocity windows to be counted to its driver,
 * `decide` or `decideAsync`. See docs/reference/policy.md#evaluation.
 *
 * @returns always a decision; an internal error is a denial with a fixed reason
 */
export function* evaluation(
  policy: Policy | undefined,
  request: PolicyRequest,
  options: EvaluationOptions = {},
): Asking<PolicyDecision> {
  const jobId = typeof request.job_id === 'string' ? request.job_id : '';
  if (!policy) return toRecord(denial('no policy is loaded'), '', jobId);
  try {
    const { outcome, snapshot } = yield* pipeline(policy, request, options);
    return toRecord(outcome, snapshot, jobId);
  } catch (error) {
    options.onError?.(error);
    return toRecord(denial('policy evaluation failed'), policy.snapshot, jobId);
  }
}

function* pipeline(
  policy: Policy,
  request: PolicyRequest,
  { velocityFailMode = 'closed', scanContent, trace, without = [] }: EvaluationOptions,
): Asking<{ outcome: Outcome; snapshot: string }> {
  const { snapshot } = policy;
  if (request.topic === '') return { outcome: denial('the topic is empty'), snapshot };
  if (!request.topic.startsWith('job.')) return { outcome: denial('the topic does not begin with job.'), snapshot };

  const facts = buildFacts(request, policy.defaultTenant);
  const byRules = yield* new Search(policy, facts, {
    velocityFailMode,
    trace,
    countsNothing: without.includes('velocity'),
    priorPermit: priorPermitUnder(policy, request),
  }).outcome();
  if (byRules.verdict === 'DENY' || byRules.verdict === 'THROTTLE') return { outcome: byRules, snapshot };

  const config = configLists(request.effective_config);
  const outcome = afterLists(policy, facts, byRules, config?.breach(facts), {
    scanContent,
    trace,
    isContentLeftOut: without.includes('content'),
  });
  return { outcome, snapshot: config ? `${snapshot}|cfg:${config.hash}` : snapshot };
}

/** The part of a snapshot before `|` identifies the policy. See docs/reference/policy.md#snapshots. */
const priorPermitUnder = ({ snapshot }: Policy, { prior_permit: prior }: PolicyRequest) =>
  prior?.policy_snapshot.split('|')[0] === snapshot ? prior : undefined;

function afterLists(
  policy: Policy,
  facts: Facts,
  byRules: Outcome,
  byConfig: Outcome | undefined,
  options: { scanContent: ScanContent | undefined; trace: RuleTrace[] | undefined; isContentLeftOut: boolean },
): Outcome {
  const breach = tenantBreach(policy, facts) ?? byConfig;
  if (breach) return breach;
  return isPermitting(byRules.verdict) && !options.isContentLeftOut
    ? afterContentRules(policy, facts, byRules, options)
    : byRules;
}
