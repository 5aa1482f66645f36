import type { Caller, PolicyDecisionView, PolicyExplanationView, PolicyRequestBody } from '@svc/contract';
import type { Kernel } from '@svc/kernel-client';
import type { PolicyDecision, PolicyRequest } from '@svc/policy';
import { askKernel } from './evaluate-ask';
import { policyQuestion, type QuestionDeps } from './evaluate-question';
import { decisionView, redacted, traceView } from './evaluate-view';

export interface PolicyCall {
  action: 'policy.evaluate' | 'policy.simulate' | 'policy.explain';
  caller: Caller;
  request: Pick<PolicyRequest, 'topic' | 'job_id'> & { tenant: string };
  decision: PolicyDecision;
}

export interface PolicyEvaluateDeps extends QuestionDeps {
  kernel: Kernel;
  settings: {
    /** SVC_POLICY_EVALUATE_REDACT. */
    redact: boolean;
  };
  /** Each call is audited. Policy contract 5. */
  onCall(call: PolicyCall): void;
}

/**
 * What policy decides about a request, counted in velocity windows as if it were made. Policy contract 5.
 *
 * @throws tenant_access_denied, invalid_body, safety_unavailable, upstream_service_error
 */
export async function evaluatePolicy(
  deps: PolicyEvaluateDeps,
  caller: Caller,
  body: PolicyRequestBody,
): Promise<PolicyDecisionView> {
  const request = await policyQuestion(deps, caller, body);
  const decision = await askKernel(() => deps.kernel.evaluate(request));
  deps.onCall({ action: 'policy.evaluate', caller, request, decision });
  const view = decisionView(decision);
  return deps.settings.redact ? redacted(view) : view;
}

/** The same, and nothing is counted. @throws the codes of `evaluatePolicy` */
export async function simulatePolicy(
  deps: PolicyEvaluateDeps,
  caller: Caller,
  body: PolicyRequestBody,
): Promise<PolicyDecisionView> {
  const request = await policyQuestion(deps, caller, body);
  const decision = await askKernel(() => deps.kernel.simulate(request));
  deps.onCall({ action: 'policy.simulate', caller, request, decision });
  return decisionView(decision);
}

/** The same as simulating, with every rule that was looked at. @throws the codes of `evaluatePolicy` */
export async function explainPolicy(
  deps: PolicyEvaluateDeps,
  caller: Caller,
  body: PolicyRequestBody,
): Promise<PolicyExplanationView> {
  const request = await policyQuestion(deps, caller, body);
  const decision = await askKernel(() => deps.kernel.explain(request));
  deps.onCall({ action: 'policy.explain', caller, request, decision });
  return { ...decisionView(decision), trace: decision.trace.map(traceView), traceTotal: decision.trace_total };
}

/** Names of the policy in force and of those before it, newest first. @throws safety_unavailable, upstream_service_error */
export const policySnapshots = async ({ kernel }: Pick<PolicyEvaluateDeps, 'kernel'>): Promise<string[]> =>
  askKernel(() => kernel.listSnapshots());
