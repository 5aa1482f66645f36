import type { Policy } from '../compile/merge-policies';
import { decideAsync } from './decide';
import type { EvaluationOptions } from './evaluation';
import type { PolicyDecision, PolicyRequest, VelocityAnswer, VelocityCheck } from './request';
import type { RuleTrace } from './trace';

export interface Explanation {
  /** The decision; its reason is followed by the rules that were passed over and why. */
  decision: PolicyDecision;
  /** At most `MAX_TRACED_RULES` rules in the order of evaluation; matching ones are preferred to others. */
  trace: RuleTrace[];
  /** Number of rules considered. */
  traceTotal: number;
}

/** Bounds an explanation, which is read by people; a policy may have thousands of rules. */
export const MAX_TRACED_RULES = 100;
const namedRules = 10;

/**
 * Decides with a trace. Pass an `answerVelocity` that reads without counting: explaining must not use up a window.
 * See docs/reference/policy.md#evaluation.
 */
export async function explain(
  policy: Policy | undefined,
  request: PolicyRequest,
  answerVelocity: (check: VelocityCheck) => Promise<VelocityAnswer>,
  options: EvaluationOptions = {},
): Promise<Explanation> {
  const trace: RuleTrace[] = [];
  const decision = await decideAsync(policy, request, answerVelocity, { ...options, trace });
  const reason = [decision.reason, ...decidedBy(decision, trace), ...passedOver(trace)].join('; ');
  return { decision: { ...decision, reason }, trace: bounded(trace), traceTotal: trace.length };
}

/** A rule may match and not decide: a narrower tier may be stricter, or a list may deny after it. */
function decidedBy({ rule_id }: PolicyDecision, trace: readonly RuleTrace[]): string[] {
  const matched = trace.filter(({ outcome }) => outcome === 'matched');
  // Content rules come last, and may share a name with another rule.
  const from = matched.findLast(({ ruleId }) => ruleId === rule_id);
  const others = matched.filter((entry) => entry !== from).map(formatRule);
  return [
    ...(from ? [`decided by ${formatRule(from)}`] : []),
    ...(others.length > 0 ? [`matched too, and did not decide: ${others.join(', ')}`] : []),
  ];
}

const formatRule = ({ ruleId, source, set }: RuleTrace): string =>
  `rule ${ruleId} of ${source}${set === 'content' ? ' (content)' : ''}`;

function passedOver(trace: readonly RuleTrace[]): string[] {
  const passed = trace.filter(({ outcome }) => outcome !== 'matched');
  const named = passed.slice(0, namedRules).map(({ ruleId, outcome, failed }) => `${ruleId} (${failed ?? outcome})`);
  const more = passed.length > namedRules ? ` and ${passed.length - namedRules} more` : '';
  return named.length > 0 ? [`passed over ${named.join(', ')}${more}`] : [];
}

function bounded(trace: readonly RuleTrace[]): RuleTrace[] {
  const isRelevant = ({ outcome }: RuleTrace) => outcome === 'matched' || outcome === 'unavailable';
  const relevant = trace.filter(isRelevant).slice(0, MAX_TRACED_RULES);
  const left = MAX_TRACED_RULES - relevant.length;
  const kept = new Set([...relevant, ...trace.filter((entry) => !isRelevant(entry)).slice(0, left)]);
  return trace.filter((entry) => kept.has(entry));
}
