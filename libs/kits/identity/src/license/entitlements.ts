import { isRecord } from '@svc/json';

/** -1 = unlimited; 0 = the tier sets no limit and the product's own limit applies. See docs/operations.md#license. */
export interface Entitlements {
  max_workers: number;
  max_concurrent_jobs: number;
  requests_per_second: number;
  audit_retention_days: number;
  velocity_rule_count: number;
  max_workflow_steps: number;
  max_active_workflows: number;
  max_tenants: number;
  max_schema_count: number;
  max_prompt_chars: number;
  max_body_bytes: number;
  max_artifact_bytes: number;
  max_policy_bundles: number;
  audit: boolean;
  break_glass_admin: boolean;
  rbac: boolean;
  sso: boolean;
  saml: boolean;
  scim: boolean;
  siem_export: boolean;
  audit_export: boolean;
  legal_hold: boolean;
  velocity_rules: boolean;
  agent_identity: boolean;
  support_sla: boolean;
  approval_mode: string;
  telemetry_mode: string;
  features: Readonly<Record<string, boolean>>;
  limits: Readonly<Record<string, number>>;
}

export const plans = ['community', 'team', 'enterprise'] as const;
export type Plan = (typeof plans)[number];

const community: Entitlements = {
  max_workers: 3,
  max_concurrent_jobs: 3,
  requests_per_second: 500,
  audit_retention_days: 7,
  velocity_rule_count: 0,
  max_workflow_steps: 0,
  max_active_workflows: 0,
  max_tenants: 0,
  max_schema_count: 0,
  max_prompt_chars: 0,
  max_body_bytes: 0,
  max_artifact_bytes: 0,
  max_policy_bundles: 0,
  audit: true,
  break_glass_admin: true,
  rbac: false,
  sso: false,
  saml: false,
  scim: false,
  siem_export: false,
  audit_export: false,
  legal_hold: false,
  velocity_rules: false,
  agent_identity: false,
  support_sla: false,
  approval_mode: 'single',
  telemetry_mode: '',
  features: {},
  limits: {},
};

const team: Entitlements = {
  ...community,
  max_workers: 25,
  max_concurrent_jobs: 25,
  requests_per_second: 2_000,
  audit_retention_days: 90,
  approval_mode: 'multi',
};

const enterprise: Entitlements = {
  ...community,
  max_workers: -1,
  max_concurrent_jobs: -1,
  requests_per_second: 10_000,
  audit_retention_days: -1,
  velocity_rule_count: -1,
  approval_mode: 'custom',
  rbac: true,
  sso: true,
  saml: true,
  scim: true,
  siem_export: true,
  audit_export: true,
  legal_hold: true,
  velocity_rules: true,
  agent_identity: true,
  support_sla: true,
};

export const tiers: Readonly<Record<Plan, Entitlements>> = { community, team, enterprise };

/** Velocity rules of the Team plan when the license grants `velocity_rules`. */
const teamVelocityRules = 20;
const approvalRanks = ['single', 'multi', 'custom'];

const larger = (a: number, b: number): number => (a === -1 || b === -1 ? -1 : Math.max(a, b));

/** Normalizes the name of a feature or limit: lower case, with `_` for `-` and space. */
export const entitlementName = (name: string): string => name.toLowerCase().replace(/[- ]/g, '_');

const filterMap = <T>(value: unknown, isValue: (item: unknown) => item is T): Record<string, T> =>
  isRecord(value)
    ? Object.fromEntries(
        Object.entries(value).flatMap(([name, item]: [string, unknown]) =>
          isValue(item) ? [[entitlementName(name), item]] : [],
        ),
      )
    : {};
const isBoolean = (value: unknown): value is boolean => typeof value === 'boolean';
const isNumber = (value: unknown): value is number => typeof value === 'number' && Number.isInteger(value);

/**
 * Merges the grants of a license into the entitlements of its tier: booleans are ORed; the larger integer wins, with -1 the
 * largest; the higher approval mode wins; a grant fills an empty string or map. Unknown names and wrong types are ignored.
 */
export function mergeEntitlements(plan: Plan, granted: Readonly<Record<string, unknown>>): Entitlements {
  const tier = tiers[plan];
  const merged = Object.fromEntries(
    Object.entries(tier).map(([name, standard]: [string, unknown]) => {
      const grant = granted[name];
      if (isBoolean(standard)) return [name, standard || grant === true];
      if (isNumber(standard)) return [name, isNumber(grant) ? larger(standard, grant) : standard];
      return [name, standard === '' && typeof grant === 'string' ? grant : standard];
    }),
  ) as unknown as Entitlements;
  const mode = granted['approval_mode'];
  const velocity = plan === 'team' && merged.velocity_rules ? teamVelocityRules : 0;
  return {
    ...merged,
    velocity_rule_count: larger(merged.velocity_rule_count, velocity),
    approval_mode:
      typeof mode === 'string' && approvalRanks.indexOf(mode) > approvalRanks.indexOf(tier.approval_mode)
        ? mode
        : tier.approval_mode,
    features: filterMap(granted['features'], isBoolean),
    limits: filterMap(granted['limits'], isNumber),
  };
}

const fileVelocityRules = 3;

/**
 * Number of velocity rules that kernels enforce; -1 = unlimited. Every plan includes a few for the policy file; bundles
 * require an entitlement. See docs/reference/policy.md#velocity.
 */
export const velocityRulesInForce = ({
  velocity_rule_count: count,
}: Pick<Entitlements, 'velocity_rule_count'>): number => (count < 0 ? -1 : Math.max(count, fileVelocityRules));
