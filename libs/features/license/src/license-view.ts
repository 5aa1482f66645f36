import type { LicenseSummary, LicenseView } from '@svc/contract';
import type { LicenseState, Plan } from '@svc/identity';

const planNames: Readonly<Record<Plan, string>> = { community: 'Community', team: 'Team', enterprise: 'Enterprise' };

/** The license in effect, as the license routes and the status report it. See docs/operations.md#license. */
export function toLicenseSummary({ plan, status, entitlements, payload }: LicenseState): LicenseSummary {
  const { features, limits, ...others } = entitlements;
  const flags = Object.entries({ ...features, ...others }).filter(([, value]) => value === true);
  const numbers = Object.entries({ ...limits, ...others }).filter(
    ([, value]) => typeof value === 'number' && value !== 0,
  );
  return {
    mode: plan,
    status,
    plan: planNames[plan],
    org_id: payload?.org_id ?? '',
    license_id: payload?.license_id ?? '',
    deployment_type: payload?.deployment_type ?? '',
    ...toTime('issued_at', payload?.issuedAtMs),
    ...toTime('not_before', payload?.notBeforeMs),
    ...toTime('expires_at', payload?.expiresAtMs),
    features: flags.map(([name]) => name).sort(),
    limits: Object.fromEntries(numbers) as Record<string, number>,
  };
}

export function toLicenseView(state: LicenseState): LicenseView {
  const { plan, status, entitlements, payload } = state;
  return {
    plan,
    entitlements: { ...entitlements },
    rights: payload?.rights ? { ...payload.rights } : null,
    license: toLicenseSummary(state),
    expiry_status: status,
  };
}

const toTime = <Name extends string>(name: Name, ms: number | undefined): { [N in Name]?: string } =>
  ms === undefined ? {} : ({ [name]: new Date(ms).toISOString() } as { [N in Name]?: string });
