import type { Caller, FragmentError, RuleSourceView } from '@svc/contract';
import { bundleFamily, contentHash, type BundleRecord, type PolicyDocument } from '@svc/policy';
import { readVisibleBundles } from './bundles-document';
import type { PolicyReadDeps } from './policy-deps';

/** A document whose rules are listed. */
export interface Fragment {
  document: PolicyDocument;
  source: RuleSourceView;
  /** Whether it is in effect. */
  enabled: boolean;
}

/**
 * The policy file and every bundle that the caller can read, in merge order; documents that cannot be parsed are
 * returned as errors. See docs/reference/policy.md#documents.
 */
export async function policyFragments(
  deps: PolicyReadDeps,
  caller: Caller,
): Promise<{ fragments: Fragment[]; errors?: FragmentError[] }> {
  const [base, { bundles }] = await Promise.all([deps.basePolicy(), readVisibleBundles(deps, caller)]);
  const fragments: Fragment[] = base.map((document) => ({
    document,
    source: { fragment_id: 'base', tier: document.tier, ...(document.version && { version: document.version }) },
    enabled: true,
  }));
  const errors: FragmentError[] = [];
  for (const [id, record] of bundles) {
    const parsed = deps.parsed.parse(id, record.content);
    const [problem] = parsed.ok ? [] : parsed.problems;
    if (parsed.ok)
      fragments.push({
        document: parsed.document,
        source: toSourceView(id, record, parsed.document),
        enabled: record.enabled,
      });
    else
      errors.push({ fragment_id: id, error: problem ? `line ${problem.line}: ${problem.message}` : 'cannot be read' });
  }
  return { fragments, ...(errors.length > 0 && { errors }) };
}

function toSourceView(id: string, record: BundleRecord, { tier, version }: PolicyDocument): RuleSourceView {
  const slash = id.indexOf('/');
  const pack = bundleFamily(id) === 'pack' && slash > 0;
  const shownVersion = record.version ?? version;
  return {
    fragment_id: id,
    tier,
    ...(pack && { pack_id: id.slice(0, slash), overlay_name: id.slice(slash + 1) }),
    ...(shownVersion && { version: shownVersion }),
    ...(record.installed_at && { installed_at: record.installed_at }),
    sha256: contentHash(record.content),
  };
}
