import { AppError, type FragmentError, type VelocityRulesView, type VelocityRuleView } from '@svc/contract';
import { readStoredBundles } from './bundles-document';
import type { PolicyReadDeps } from './policy-deps';
import { isVelocityBundle, toVelocityId, velocityView } from './velocity-rule';

/** Velocity terms of the license in effect. See docs/operations.md#license. */
export interface VelocityLicense {
  /** Entitlement velocity_rules. */
  entitled: boolean;
  /** -1 = unlimited. */
  most: number;
}

export interface VelocityDeps {
  velocityLicense(): VelocityLicense;
}

/** @throws tier_limit_exceeded */
export function requireEntitled({ velocityLicense }: VelocityDeps): VelocityLicense {
  const license = velocityLicense();
  if (license.entitled) return license;
  throw new AppError('tier_limit_exceeded', {
    message: 'the plan has no velocity rules',
    limit: 'velocity_rules',
    upgrade_url: '',
  });
}

/** Velocity rules, most recently changed first. See docs/reference/policy.md#velocity. @throws tier_limit_exceeded */
export async function listVelocityRules(deps: PolicyReadDeps & VelocityDeps): Promise<VelocityRulesView> {
  const { most } = requireEntitled(deps);
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
