import type { Policy } from '../compile/merge-policies';
import { evaluation, type EvaluationOptions } from './evaluation';
import type { PolicyDecision, PolicyRequest, VelocityAnswer, VelocityCheck } from './request';

/**
 * Decides a request with a synchronous velocity counter.
 *
 * @param answerVelocity counts or reads a window; if it throws, the decision is a denial
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
 * @param answerVelocity counts or reads a window. It returns `unavailable` when the store does not answer, which
 *   `velocityFailMode` handles; if it rejects, the decision is a denial
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
