import type { Caller, Problem } from '@svc/contract';
import { overrideBundleId, overrideFaults, policyPlace, prepareBundle } from '@svc/policy';
import type { PolicyPart } from '@svc/store';
import { readDocument, successor } from '@svc/settings';
import { bundleRecord, formatTime } from './bundle-content';
import { after, requireRoom, readStored } from './bundles-document';
import { buildAudit } from '@svc/audit';
import { type PolicyWriteDeps, getSigningKey } from './policy-deps';

/**
 * Validates the policy of a workflow; problems in its text have line numbers.
 * See docs/reference/workflows.md#definitions.
 */
export function overrideProblems(workflowId: string, text: string): Problem[] {
  const prepared = prepareBundle(text, overrideBundleId(workflowId));
  return prepared.ok ? overrideFaults(prepared.document, workflowId) : prepared.problems;
}

export interface WorkflowPolicy {
  workflowId: string;
  /** Undefined or empty: the workflow has no policy of its own. */
  text?: string | undefined;
  author: string;
}

/**
 * The change of the bundles that puts a workflow's policy into effect; undefined when it is in effect already, or when
 * there is none and was none. See docs/reference/policy.md#workflow-overrides.
 *
 * @throws policy_signing_required, tier_limit_exceeded, request_too_large
 */
export async function overridePart(
  deps: PolicyWriteDeps,
  caller: Caller,
  { workflowId, text, author }: WorkflowPolicy,
): Promise<PolicyPart | undefined> {
  const id = overrideBundleId(workflowId);
  const document = await readDocument(deps, policyPlace);
  const stored = readStored(document);
  const replaced = stored.bundles.get(id);
  const prepared = text ? prepareBundle(text, id) : undefined;
  if (!prepared?.ok && !Object.hasOwn(stored.raw, id)) return undefined;
  const { tenant } = caller;
  const isUnchanged = replaced?.tenant === tenant && replaced.enabled;
  if (prepared?.ok && isUnchanged && replaced.content === prepared.content) return undefined;
  const now = formatTime(deps.clock.nowMs());
  const record = prepared?.ok
    ? bundleRecord(prepared.content, { enabled: true, author, tenant }, { replaced, key: getSigningKey(deps), now })
    : undefined;
  const bundles = after(stored, new Map([[id, record]]));
  requireRoom(deps, stored.raw, bundles);
  return {
    document: successor(deps, policyPlace, document, { data: { ...document?.data, bundles } }),
    readRevision: document?.revision ?? 0,
    kept: {
      nowUs: deps.clock.nowUs(),
      taken: [],
      audit: buildAudit(deps, caller, {
        action: record ? 'edit' : 'delete',
        resource_type: 'policy',
        resource_id: id,
        bundle_ids: [id],
        extra: { author, workflow_id: workflowId },
      }),
    },
  };
}
