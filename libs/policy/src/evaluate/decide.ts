import type { Policy } from '../compile/merge-policies';
import { evaluation, type EvaluationOptions } from './evaluation';
import type { PolicyDecision, PolicyRequest, VelocityAnswer, VelocityCheck } from './request';
import type { RuleTrace } from './trace';

/**
 * Decides a request with velocity answers that are at hand.
 *
 * @param answerVelocity counts or looks up a window; if it throws, the decision is a denial
 */
export function decide(
  policy: Policy | undefined,
  request: PolicyRequest,
  answerVelocity: (check: VelocityCheck) => VelocityAnswer,
  options: EvaluationOptions = {},
): PolicyDecision {
  const asking = evaluation(policy, request, options);
  let step = asking.next();
  while (!step.done) {
    let answer: VelocityAnswer | undefined;
    try {
      answer = answerVelocity(step.value);
    } catch (error) {
      step = asking.throw(error);
      continue;
    }
    step = asking.next(answer);
  }
  return step.value;
}

/**
 * Decides a request whose velocity windows live in a store.
 *
 * @param answerVelocity counts or looks up a window. It answers `unavailable` when the store does not, which is for
 *   `velocityFailMode`; if it rejects, the decision is a denial
 */
export async function decideAsync(
  policy: Policy | undefined,
  request: PolicyRequest,
  answerVelocity: (check: VelocityCheck) => Promise<VelocityAnswer>,
  options: EvaluationOptions = {},
): Promise<PolicyDecision> {
  const asking = evaluation(policy, request, options);
  let step = asking.next();
  while (!step.done) {
    let answer: VelocityAnswer | undefined;
    try {
      answer = await answerVelocity(step.value);
    } catch (error) {
      step = asking.throw(error);
      continue;
    }
    step = asking.next(answer);
  }
  return step.value;
}

export interface Explanation {
  /** The decision, its reason followed by which rules were passed over and why. */
  decision: PolicyDecision;
  trace: RuleTrace[];
}

const namedRules = 10;

/**
 * Decides and says why. Pass an `answerVelocity` that looks without counting: explaining must not use up a window.
 * Policy contract 5, explain.
 */
export async function explain(
  policy: Policy | undefined,
  request: PolicyRequest,
  answerVelocity: (check: VelocityCheck) => Promise<VelocityAnswer>,
  options: EvaluationOptions = {},
): Promise<Explanation> {
  const trace: RuleTrace[] = [];
  const decision = await decideAsync(policy, request, answerVelocity, { ...options, trace });
  const from = trace.find(({ outcome, ruleId }) => outcome === 'matched' && ruleId === decision.rule_id);
  const decidedBy = from ? [`decided by rule ${from.ruleId} of ${from.source || 'the content rules'}`] : [];
  const passed = trace.filter(({ outcome }) => outcome !== 'matched');
  const named = passed.slice(0, namedRules).map(({ ruleId, outcome, failed }) => `${ruleId} (${failed ?? outcome})`);
  const more = passed.length > namedRules ? ` and ${passed.length - namedRules} more` : '';
  const passedOver = named.length > 0 ? [`passed over ${named.join(', ')}${more}`] : [];
  return { decision: { ...decision, reason: [decision.reason, ...decidedBy, ...passedOver].join('; ') }, trace };
}
