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
import { runActionChecks, claimApproval, type ActionBlock, type ActionCheckDeps, toBlockError } from './action-checks';

export interface PolicyEvaluateDeps extends QuestionDeps, ActionCheckDeps {
  kernel: Kernel;
  settings: {
    /** SVC_POLICY_EVALUATE_REDACT. */
    redact: boolean;
  };
  /** Called for each request before the response, for the audit. See docs/reference/policy.md#action-checks. */
  onCall(call: PolicyCall): Promise<void>;
}

/** The caller and the request. */
export interface Asking {
  caller: Caller;
  requestId: string;
}

type Question = PolicyRequest & { tenant: string };
type Action = 'policy.evaluate' | 'policy.simulate' | 'policy.explain';

export type PolicyCall = { action: Action; caller: Caller; request: Question } & (
  { decision: PolicyDecision } | { blocked: ActionBlock }
);

/**
 * Evaluates policy for a request as a submission would: velocity windows are counted, and the approval that the action
 * rests on is consumed. See docs/reference/policy.md#action-checks.
 *
 * @throws tenant_access_denied, invalid_body, safety_unavailable, upstream_service_error, and the codes of action checks
 */
export async function evaluatePolicy(
  deps: PolicyEvaluateDeps,
  asking: Asking,
  body: PolicyRequestBody,
): Promise<PolicyDecisionView> {
  const request = await withActionChecks(deps, 'policy.evaluate', asking, body);
  const decision = await askKernel(() => deps.kernel.evaluate(request));
  await claim(deps, asking, body, request, decision);
  await deps.onCall({ action: 'policy.evaluate', caller: asking.caller, request, decision });
  const view = decisionView(decision);
  return deps.settings.redact ? redacted(view) : view;
}

/**
 * The same without counting or consuming. An action check that requires an approval is returned as a decision.
 *
 * @throws the codes of `evaluatePolicy`
 */
export async function simulatePolicy(
  deps: PolicyEvaluateDeps,
  asking: Asking,
  body: PolicyRequestBody,
): Promise<PolicySimulationView> {
  const request = await policyQuestion(deps, asking.caller, body);
  const blocked = await findBlock(deps, 'policy.simulate', asking, body, request);
  if (blocked?.finding.kind === 'human') return humanView(blocked, await policySnapshots(deps));
  if (blocked) throw toBlockError(blocked, asking.requestId);
  const decision = await askKernel(() => deps.kernel.simulate(request));
  await deps.onCall({ action: 'policy.simulate', caller: asking.caller, request, decision });
  return decisionView(decision);
}

/** Simulation with a trace of every evaluated rule. @throws the codes of `evaluatePolicy` */
export async function explainPolicy(
  deps: PolicyEvaluateDeps,
  asking: Asking,
  body: PolicyRequestBody,
): Promise<PolicyExplanationView> {
  const request = await withActionChecks(deps, 'policy.explain', asking, body);
  const decision = await askKernel(() => deps.kernel.explain(request));
  await deps.onCall({ action: 'policy.explain', caller: asking.caller, request, decision });
  return { ...decisionView(decision), trace: decision.trace.map(traceView), traceTotal: decision.trace_total };
}

/** Names of the policy in effect and earlier ones, newest first. @throws safety_unavailable, upstream_service_error */
export const policySnapshots = async ({ kernel }: Pick<PolicyEvaluateDeps, 'kernel'>): Promise<string[]> =>
  askKernel(() => kernel.listSnapshots());

async function withActionChecks(
  deps: PolicyEvaluateDeps,
  action: Action,
  asking: Asking,
  body: PolicyRequestBody,
): Promise<Question> {
  const request = await policyQuestion(deps, asking.caller, body);
  const blocked = await findBlock(deps, action, asking, body, request);
  if (blocked) throw toBlockError(blocked, asking.requestId);
  return request;
}

async function findBlock(
  deps: PolicyEvaluateDeps,
  action: Action,
  { caller }: Asking,
  body: PolicyRequestBody,
  request: Question,
): Promise<ActionBlock | undefined> {
  const blocked = body.action ? await runActionChecks(deps, caller, request, body.action) : undefined;
  if (blocked) await deps.onCall({ action, caller, request, blocked });
  return blocked;
}

/** Only a permitted action consumes its approval: a denial leaves it for another try. */
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
  throw toBlockError(blocked, requestId);
}
