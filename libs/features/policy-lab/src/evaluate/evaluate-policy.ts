import type {
  Caller,
  PolicyDecisionView,
  PolicyExplanationView,
  PolicyRequestBody,
  PolicySimulationView,
} from '@svc/contract';
import type { Kernel } from '@svc/kernel-client';
import type { PolicyDecision, PolicyRequest } from '@svc/policy';
import { askKernel } from './evaluate-ask';
import { policyQuestion, type QuestionDeps } from './evaluate-question';
import { decisionView, humanView, redacted, traceView } from './evaluate-view';
import { checkGates, claimApproval, type GateBlock, type GateDeps, gateError } from './gates';

export interface PolicyEvaluateDeps extends QuestionDeps, GateDeps {
  kernel: Kernel;
  settings: {
    /** SVC_POLICY_EVALUATE_REDACT. */
    redact: boolean;
  };
  /** Hears of each call, to be audited, before it is answered. See docs/reference/policy.md#action-checks. */
  onCall(call: PolicyCall): Promise<void>;
}

/** Who asks, in which request. */
export interface Asking {
  caller: Caller;
  requestId: string;
}

type Question = PolicyRequest & { tenant: string };
type Action = 'policy.evaluate' | 'policy.simulate' | 'policy.explain';

export type PolicyCall = { action: Action; caller: Caller; request: Question } & (
  { decision: PolicyDecision } | { blocked: GateBlock }
);

/**
 * What policy decides about a request, counted in velocity windows as if it were made, and with the approval used up that
 * its action rests on. See docs/reference/policy.md#action-checks.
 *
 * @throws tenant_access_denied, invalid_body, safety_unavailable, upstream_service_error, and what gates object
 */
export async function evaluatePolicy(
  deps: PolicyEvaluateDeps,
  asking: Asking,
  body: PolicyRequestBody,
): Promise<PolicyDecisionView> {
  const request = await throughGates(deps, 'policy.evaluate', asking, body);
  const decision = await askKernel(() => deps.kernel.evaluate(request));
  await claim(deps, asking, body, request, decision);
  await deps.onCall({ action: 'policy.evaluate', caller: asking.caller, request, decision });
  const view = decisionView(decision);
  return deps.settings.redact ? redacted(view) : view;
}

/**
 * The same, and nothing is counted or used up. That a gate asks for a person is a decision here.
 *
 * @throws the codes of `evaluatePolicy`
 */
export async function simulatePolicy(
  deps: PolicyEvaluateDeps,
  asking: Asking,
  body: PolicyRequestBody,
): Promise<PolicySimulationView> {
  const request = await policyQuestion(deps, asking.caller, body);
  const blocked = await blockOf(deps, 'policy.simulate', asking, body, request);
  if (blocked?.finding.kind === 'human') return humanView(blocked, await policySnapshots(deps));
  if (blocked) throw gateError(blocked, asking.requestId);
  const decision = await askKernel(() => deps.kernel.simulate(request));
  await deps.onCall({ action: 'policy.simulate', caller: asking.caller, request, decision });
  return decisionView(decision);
}

/** The same as simulating, with every rule that was looked at. @throws the codes of `evaluatePolicy` */
export async function explainPolicy(
  deps: PolicyEvaluateDeps,
  asking: Asking,
  body: PolicyRequestBody,
): Promise<PolicyExplanationView> {
  const request = await throughGates(deps, 'policy.explain', asking, body);
  const decision = await askKernel(() => deps.kernel.explain(request));
  await deps.onCall({ action: 'policy.explain', caller: asking.caller, request, decision });
  return { ...decisionView(decision), trace: decision.trace.map(traceView), traceTotal: decision.trace_total };
}

/** Names of the policy in force and of those before it, newest first. @throws safety_unavailable, upstream_service_error */
export const policySnapshots = async ({ kernel }: Pick<PolicyEvaluateDeps, 'kernel'>): Promise<string[]> =>
  askKernel(() => kernel.listSnapshots());

async function throughGates(
  deps: PolicyEvaluateDeps,
  action: Action,
  asking: Asking,
  body: PolicyRequestBody,
): Promise<Question> {
  const request = await policyQuestion(deps, asking.caller, body);
  const blocked = await blockOf(deps, action, asking, body, request);
  if (blocked) throw gateError(blocked, asking.requestId);
  return request;
}

async function blockOf(
  deps: PolicyEvaluateDeps,
  action: Action,
  { caller }: Asking,
  body: PolicyRequestBody,
  request: Question,
): Promise<GateBlock | undefined> {
  const blocked = body.action ? await checkGates(deps, caller, request, body.action) : undefined;
  if (blocked) await deps.onCall({ action, caller, request, blocked });
  return blocked;
}

/** Only what policy permits uses its approval up: a denial leaves it for another try. */
async function claim(
  deps: PolicyEvaluateDeps,
  { caller, requestId }: Asking,
  body: PolicyRequestBody,
  request: Question,
  { decision }: PolicyDecision,
): Promise<void> {
  const permits = decision === 'ALLOW' || decision === 'ALLOW_WITH_CONSTRAINTS';
  const blocked = body.action && permits ? await claimApproval(deps, caller, request, body.action) : undefined;
  if (!blocked) return;
  await deps.onCall({ action: 'policy.evaluate', caller, request, blocked });
  throw gateError(blocked, requestId);
}
