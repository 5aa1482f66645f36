import type { ActionBody } from '@svc/contract';
import { checkFile } from './check-file';
import type { Actor, ActionCheckInput, ActionCheckFinding, ActionCheckId, Objection } from './action-check';
import { checkMcp } from './check-mcp';
import { checkMutation } from './check-mutation';
import { checkProvenance } from './check-provenance';
import { checkTenant } from './check-tenant';
import { checkUrl } from './check-url';

type Gate = (given: ActionCheckInput) => Objection | undefined | Promise<Objection | undefined>;

const gates: Readonly<Record<ActionCheckId, Gate>> = {
  'actiongate.tenant': checkTenant,
  'actiongate.file': checkFile,
  'actiongate.url': checkUrl,
  'actiongate.mcp': checkMcp,
  'actiongate.mutation': checkMutation,
  'actiongate.provenance': checkProvenance,
};

/**
 * Runs all action checks in order; the first objection ends it. Checks can only block: an action that passes all of them
 * is still subject to the rules. See docs/reference/policy.md#action-checks.
 */
export async function checkAction(given: ActionCheckInput): Promise<ActionCheckFinding | undefined> {
  for (const [gate, check] of Object.entries(gates)) {
    const objection = await check(given);
    if (objection && isActionCheckId(gate)) return { ...objection, gate };
  }
  return undefined;
}

const isActionCheckId = (id: string): id is ActionCheckId => Object.hasOwn(gates, id);

/** The reported details of a block: nothing from the caller except words of closed sets. */
export interface ActionCheckDetails {
  gate: ActionCheckId;
  sub_reason: string;
  target_type: string;
  auth_tenant: string;
  claim_present: boolean;
  /** Length of the claim: 0, 1-64, 65-256, 257-1024 or 1025+ characters. */
  claim_chars: string;
  verb: string;
  kind: string;
}

const buckets = [
  [0, '0'],
  [64, '1-64'],
  [256, '65-256'],
  [1_024, '257-1024'],
] as const;

export function actionCheckDetails(
  { gate, subReason }: ActionCheckFinding,
  action: ActionBody,
  { tenant }: Actor,
): ActionCheckDetails {
  const claim = action.approval_claim?.claim_text ?? '';
  return {
    gate,
    sub_reason: subReason,
    // A type is a word such as `order`; longer text might be the target itself.
    target_type: /^[\w.-]{1,64}$/.test(action.target_resource?.type ?? '') ? (action.target_resource?.type ?? '') : '',
    auth_tenant: tenant,
    claim_present: claim !== '',
    claim_chars: buckets.find(([most]) => claim.length <= most)?.[1] ?? '1025+',
    verb: action.verb,
    kind: action.kind,
  };
}
