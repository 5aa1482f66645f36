import {
  AppError,
  globalSections,
  type Caller,
  type GlobalPolicyBody,
  type GlobalPolicyView,
  type GlobalSection,
  type GlobalSectionView,
} from '@svc/contract';
import { contentHash, type BundleRecord } from '@svc/policy';
import { writerName } from '@svc/identity';
import { bundleRecord, prepareContent, formatTime } from './bundle-content';
import { changeBundles, readStoredBundles, sameAtEachTry } from './bundles-document';
import type { PolicyChange } from '@svc/audit';
import { type PolicyReadDeps, type PolicyWriteDeps, requirePolicyWriter, getSigningKey } from './policy-deps';

/** The bundle that holds each section. See docs/reference/policy.md#bundles. */
const sectionBundles: Readonly<Record<GlobalSection, string>> = {
  input_rules: 'secops/global-input',
  output_rules: 'secops/global-output',
  edge_action_rules: 'secops/global-edge-action',
  mcp_tool_rules: 'secops/global-mcp-tool',
  invariants: 'secops/invariants',
};

/** The global policy by section; a missing section has an empty content. */
export const getGlobalPolicy = async (deps: Pick<PolicyReadDeps, 'store'>): Promise<GlobalPolicyView> =>
  toView((await readStoredBundles(deps)).bundles);

/**
 * Writes sections of the global policy, all or none.
 *
 * @throws tenant_access_denied, policy_validation_failed, request_too_large, tier_limit_exceeded, policy_version_conflict,
 *   policy_signing_required
 */
export async function putGlobalPolicy(
  deps: PolicyWriteDeps,
  caller: Caller,
  body: GlobalPolicyBody,
): Promise<GlobalPolicyView> {
  requirePolicyWriter(deps, caller);
  const { snapshot_version, message } = body;
  const author = writerName(caller, body.author);
  const sections = globalSections.flatMap((name) => {
    const section = body.sections[name];
    return section
      ? [{ ...section, bundleId: sectionBundles[name], content: preparedText(deps, name, section.content) }]
      : [];
  });
  const key = getSigningKey(deps);
  const requireSame = sameAtEachTry(sections.map(({ bundleId }) => bundleId));
  return changeBundles(deps, caller, (stored, nowMs) => {
    if (snapshot_version && snapshot_version !== getVersion(stored.bundles))
      throw new AppError('policy_version_conflict');
    requireSame(stored);
    const set = new Map<string, BundleRecord | undefined>();
    for (const { bundleId, content, enabled } of sections) {
      const replaced = stored.bundles.get(bundleId);
      const write = { enabled: enabled ?? replaced?.enabled ?? true, author, ...(message && { message }) };
      const record = bundleRecord(content, write, { replaced, key, now: formatTime(nowMs) });
      set.set(bundleId, content === '' ? undefined : record);
    }
    const view = toView(new Map([...stored.bundles, ...set]));
    const entry: PolicyChange = {
      action: 'edit',
      resource_type: 'policy',
      resource_id: 'global',
      bundle_ids: [...set.keys()],
      message: message ?? '',
      extra: { author, snapshot_version: view.snapshot_version },
    };
    return { set, result: view, entry };
  });
}

/** An empty text is not normalized: it removes the section. */
const preparedText = (deps: PolicyWriteDeps, name: GlobalSection, content: string): string =>
  content.trim() === ''
    ? ''
    : prepareContent(deps, { id: sectionBundles[name], content, field: `sections.${name}.content` }).content;

function toView(bundles: ReadonlyMap<string, BundleRecord | undefined>): GlobalPolicyView {
  const records = globalSections.map((name) => ({ name, record: bundles.get(sectionBundles[name]) }));
  const version = getVersion(bundles);
  return {
    snapshot_version: version,
    snapshot_hash: version,
    updated_at: records
      .map(({ record }) => record?.updated_at || null)
      .reduce((a, b) => ((a ?? '') > (b ?? '') ? a : b)),
    sections: Object.fromEntries(records.map(({ name, record }) => [name, sectionView(sectionBundles[name], record)])),
  };
}

const sectionView = (bundle_id: string, record: BundleRecord | undefined): GlobalSectionView => ({
  bundle_id,
  content: record?.content ?? '',
  sha256: record ? contentHash(record.content) : '',
  enabled: record?.enabled ?? false,
});

/** Includes drafts, since a writer must have read the text it replaces; excludes bundles that are not sections. */
const getVersion = (bundles: ReadonlyMap<string, BundleRecord | undefined>): string =>
  contentHash(
    JSON.stringify(
      globalSections.map((name) => {
        const record = bundles.get(sectionBundles[name]);
        return record ? [record.enabled, contentHash(record.content)] : null;
      }),
    ),
  );
