import { AppError, type Caller, type OutputRuleWritten } from '@svc/contract';
import { setOutputRule, type BundleRecord } from '@svc/policy';
import { bundleRecord, prepareContent, formatTime } from './bundle-content';
import { changeBundles, type StoredBundles } from './bundles-document';
import type { PolicyChange } from '@svc/audit';
import { type PolicyWriteDeps, requirePolicyWriter, getSigningKey } from './policy-deps';

/**
 * Enables or disables an output rule in the bundle that contains it.
 * See docs/reference/policy.md#output-rules-and-rules-lists.
 *
 * @throws tenant_access_denied, output_rule_not_found, output_rule_not_editable for a rule of the policy file,
 *   policy_validation_failed, policy_version_conflict, policy_signing_required
 */
export async function putOutputRule(
  deps: PolicyWriteDeps,
  caller: Caller,
  { id, enabled }: { id: string; enabled: boolean },
): Promise<OutputRuleWritten> {
  requirePolicyWriter(deps, caller);
  const key = getSigningKey(deps);
  const base = await deps.basePolicy();
  const isInFile = base.some(({ output_rules }) => output_rules.some((rule) => rule.id === id));
  return changeBundles(deps, caller, (stored, nowMs) => {
    const holder = findHolder(deps, stored, id);
    if (!holder) throw new AppError(isInFile ? 'output_rule_not_editable' : 'output_rule_not_found');
    const [bundleId, replaced] = holder;
    const turned = setOutputRule(replaced.content, id, enabled);
    if (turned === undefined) throw new AppError('output_rule_not_found');
    const { content } = prepareContent(deps, { id: bundleId, content: turned, field: 'enabled' });
    const now = formatTime(nowMs);
    const record = bundleRecord(content, replaced, { replaced, key, now });
    const entry: PolicyChange = {
      action: 'edit',
      resource_type: 'output_rule',
      resource_id: id,
      rule_id: id,
      bundle_ids: [bundleId],
      extra: { enabled: String(enabled) },
    };
    const result = { id, enabled, bundle_id: bundleId, updated_at: now };
    return { set: new Map([[bundleId, record]]), result, entry };
  });
}

/** The bundle whose rule of that id is in effect: the last enabled one, else the last of all. */
function findHolder(
  { parsed }: PolicyWriteDeps,
  { bundles }: StoredBundles,
  ruleId: string,
): [string, BundleRecord] | undefined {
  const holders = [...bundles].filter(([id, { content }]) => {
    const read = parsed.parse(id, content);
    return read.ok && read.document.output_rules.some((rule) => rule.id === ruleId);
  });
  return holders.filter(([, { enabled }]) => enabled).at(-1) ?? holders.at(-1);
}
