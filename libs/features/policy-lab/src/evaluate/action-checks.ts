import { AppError, type ActionBody, type Caller, type ErrorCode } from '@svc/contract';
import {
  approvalUsed,
  bindingHash,
  checkAction,
  actionCheckDetails,
  type Actor,
  type AgentScope,
  type ActionCheckDetails,
  type ActionCheckFinding,
  type ActionCheckLookups,
  type PolicyRequest,
  type RefusalStatus,
} from '@svc/policy';
import { actionApproval, type ActionApprovalDeps, claimKeptSec } from './action-approvals';
import type { Resolve } from './dns-resolver';

export interface ActionCheckDeps extends ActionApprovalDeps {
  resolve: Resolve;
  /** Permissions of an agent; undefined when it is unknown. Absent: this installation has no agents. */
  agentScope?: (tenant: string, agentId: string) => Promise<AgentScope | undefined>;
  /** Sources for further checks; an absent one is unknown and its check is skipped. */
  world?: Pick<ActionCheckLookups, 'hasSeenHost' | 'isReachable' | 'targetExists' | 'verifyEvidence'>;
}

export interface ActionBlock {
  finding: ActionCheckFinding;
  details: ActionCheckDetails;
}

type Question = PolicyRequest & { tenant: string };

/** Runs the action checks on an action. @returns the block, or undefined when every check passes */
export async function runActionChecks(
  deps: ActionCheckDeps,
  caller: Caller,
  request: Question,
  action: ActionBody,
): Promise<ActionBlock | undefined> {
  const { tenant } = request;
  const agentId = request.labels?.['agent_id'];
  const actor: Actor = {
    tenant,
    isCrossTenant: caller.allowCrossTenant,
    role: caller.role,
    agent: agentId ? await deps.agentScope?.(tenant, agentId) : undefined,
  };
  const finding = await checkAction({
    action,
    actor,
    dangerousParameters: dangerousParameters(request.effective_config),
    world: { ...deps.world, resolve: deps.resolve, approval: (ref) => actionApproval(deps, caller, ref) },
  });
  return finding && { finding, details: actionCheckDetails(finding, action, actor) };
}

/** `safety.mcp.dangerous_parameters` of the effective configuration: names of arguments. */
function dangerousParameters(config: unknown): string[] {
  const list = field(field(field(config, 'safety'), 'mcp'), 'dangerous_parameters');
  return Array.isArray(list) ? list.filter((item): item is string => typeof item === 'string') : [];
}

const field = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[name] : undefined;

/**
 * Consumes the approval that an action rests on, once policy permits the action.
 *
 * @returns the block when a concurrent request consumed it first
 */
export async function claimApproval(
  { actionClaims }: Pick<ActionCheckDeps, 'actionClaims'>,
  caller: Caller,
  { tenant }: Question,
  action: ActionBody,
): Promise<ActionBlock | undefined> {
  const ref = approvalUsed(action);
  if (!ref || (await actionClaims.take(ref, bindingHash(action), claimKeptSec))) return undefined;
  const gate = action.kind === 'mutation' ? 'actiongate.mutation' : 'actiongate.provenance';
  const reason = 'the approval does not allow this action now';
  const finding = { gate, kind: 'refused', status: 409, subReason: 'approval:consumed', reason } as const;
  const actor = { tenant, isCrossTenant: caller.allowCrossTenant, role: caller.role, agent: undefined };
  return { finding, details: actionCheckDetails(finding, action, actor) };
}

const codes = {
  401: 'unauthorized',
  403: 'access_denied',
  404: 'not_found',
  409: 'conflict',
  500: 'internal_error',
  503: 'service_unavailable',
} as const satisfies Record<RefusalStatus, ErrorCode>;

/**
 * A block as an HTTP error, in the error envelope of the edge; a missing approval is a conflict.
 * See docs/reference/policy.md#action-checks.
 */
export function toBlockError({ finding, details }: ActionBlock, requestId: string): AppError {
  const code = finding.kind === 'human' ? 'conflict' : codes[finding.status];
  return new AppError(code, { message: finding.reason, request_id: requestId, details });
}
