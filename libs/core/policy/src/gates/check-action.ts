import type { ActionBody } from '@svc/contract';
import { fileGate } from './file-gate';
import type { Actor, GateCase, GateFinding, GateId, Objection } from './gate';
import { mcpGate } from './mcp-gate';
import { mutationGate } from './mutation-gate';
import { provenanceGate } from './provenance-gate';
import { tenantGate } from './tenant-gate';
import { urlGate } from './url-gate';

type Gate = (given: GateCase) => Objection | undefined | Promise<Objection | undefined>;

const gates: Readonly<Record<GateId, Gate>> = {
  'actiongate.tenant': tenantGate,
  'actiongate.file': fileGate,
  'actiongate.url': urlGate,
  'actiongate.mcp': mcpGate,
  'actiongate.mutation': mutationGate,
  'actiongate.provenance': provenanceGate,
};

/**
 * Runs all action checks in order; the first objection ends it. Checks can only block: an action that passes all of them
 * is still subject to the rules. See docs/reference/policy.md#action-checks.
 */
export async function checkAction(given: GateCase): Promise<GateFinding | undefined> {
  for (const [gate, check] of Object.entries(gates)) {
    const objection = await check(given);
    if (objection && isGate(gate)) return { ...objection, gate };
  }
  return undefined;
}

const isGate = (id: string): id is GateId => Object.hasOwn(gates, id);

/** The reported details of a block: nothing from the caller except words of closed sets. */
export interface GateDetails {
  gate: GateId;
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

export function gateDetails({ gate, subReason }: GateFinding, action: ActionBody, { tenant }: Actor): GateDetails {
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
