import type { FragmentError, VelocityRulesView, VelocityRuleView } from '@svc/contract';
import { readStoredBundles } from './bundles-document';
import type { PolicyReadDeps } from './policy-deps';
import { isVelocityBundle, toVelocityId, velocityView } from './velocity-rule';

export interface VelocityDeps {
  /** Number of rules that the license permits; -1 = unlimited. See docs/operations.md#license. */
  maxVelocityRules(): number;
}

/** Velocity rules, most recently changed first. See docs/reference/policy.md#velocity. */
export async function listVelocityRules(deps: PolicyReadDeps & VelocityDeps): Promise<VelocityRulesView> {
  const most = deps.maxVelocityRules();
  const { bundles } = await readStoredBundles(deps);
  const items: VelocityRuleView[] = [];
  const errors: FragmentError[] = [];
  for (const [bundleId, record] of bundles) {
    if (!isVelocityBundle(bundleId)) continue;
    const parsed = deps.parsed.parse(bundleId, record.content);
    const view = parsed.ok ? velocityView(toVelocityId(bundleId), record, parsed.document) : undefined;
    if (view) items.push(view);
    else errors.push({ fragment_id: bundleId, error: 'does not hold one velocity rule' });
  }
  items.sort((a, b) => compare(b.updated_at ?? '', a.updated_at ?? '') || compare(a.id, b.id));
  return {
    items,
    count: items.length,
    limit: most,
    updated_at: items[0]?.updated_at ?? null,
    upgrade_url: '',
    ...(errors.length > 0 && { errors }),
  };
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
