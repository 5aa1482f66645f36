import Joi from 'joi';
import { endpoint } from '../endpoint';
import { anyObject, count, strings, text } from '../fields';
import { shape } from '../shape';

const statuses = ['active', 'warning', 'grace', 'degraded', 'fallback'] as const;

/** The license in effect. See docs/operations.md#license. */
export interface LicenseSummary {
  /** Id of the plan in effect, after degradation. */
  mode: string;
  status: (typeof statuses)[number];
  /** Name of the plan, for people. */
  plan: string;
  org_id: string;
  license_id: string;
  deployment_type: string;
  /** RFC 3339; absent without a license, or when the license has none. */
  issued_at?: string;
  not_before?: string;
  expires_at?: string;
  /** Enabled features, sorted. */
  features: string[];
  /** Numbers that are not 0; -1 = unlimited. */
  limits: Record<string, number>;
}

export const licenseSummary = shape<LicenseSummary>({
  required: {
    mode: text('Id of the plan in effect.'),
    status: Joi.string<LicenseSummary['status']>()
      .valid(...statuses)
      .description(
        'warning: expires within 30 days. grace: expired, still in effect. degraded: expired. fallback: not valid. In the last two states the plan is Community.',
      ),
    plan: text('Name of the plan in effect.'),
    org_id: text('Organization of the license.'),
    license_id: text('Id of the license.'),
    deployment_type: text('Deployment type of the license.'),
    features: strings('Enabled features, sorted.'),
    limits: Joi.object().pattern(/.*/, Joi.number()).description('Limits that are set; -1 = unlimited.'),
  },
  optional: {
    issued_at: Joi.string().isoDate().description('Time of issue.'),
    not_before: Joi.string().isoDate().description('Begin of validity.'),
    expires_at: Joi.string().isoDate().description('End of validity, without the grace period.'),
  },
});

export interface LicenseView {
  plan: string;
  entitlements: Record<string, unknown>;
  rights: Record<string, unknown> | null;
  license: LicenseSummary;
  expiry_status: string;
}

/** Use of a limit. `allowed` is -1 for unlimited. */
export interface LimitUsage {
  current: number;
  allowed: number;
}

export interface LicenseUsage {
  tenant_id: string;
  plan: string;
  license: LicenseSummary;
  usage: {
    workers: LimitUsage & { registered: number; connected: number };
    concurrent_jobs: LimitUsage;
    active_workflows: LimitUsage;
    workflow_steps: { allowed: number };
    schemas: LimitUsage;
    policy_bundles: LimitUsage;
    tenants: LimitUsage;
    requests_per_second: { allowed: number };
    prompt_chars: { allowed: number };
    body_bytes: { allowed: number };
    artifact_bytes: { allowed: number };
    approval_mode: { allowed: string };
  };
}

const read = { permission: 'license.read', roles: ['admin'] } as const;
const allowed = Joi.number().integer().min(-1).description('Maximum in effect; -1 = unlimited.');
const used = { current: count('Number that counts against the limit.'), allowed };

export const getLicense = endpoint({
  id: 'license.get',
  method: 'get',
  path: '/api/v1/license',
  summary: 'License and entitlements in effect',
  access: read,
  params: {},
  answer: {
    status: 200,
    body: shape<LicenseView>({
      required: {
        plan: text('Id of the plan in effect.'),
        entitlements: anyObject('Every entitlement; -1 = unlimited, 0 = the plan sets no limit.'),
        rights: anyObject('Rights that the license states; null without a license.').allow(null),
        license: licenseSummary,
        expiry_status: text('Same as the status of the license.'),
      },
    }),
  },
  errors: [],
});

export const getLicenseUsage = endpoint({
  id: 'license.usage',
  method: 'get',
  path: '/api/v1/license/usage',
  summary: 'Use of the limits of the license',
  description:
    'Counts are of the installation, since its tenants share the limits. 0 in the license means the limit of the product.',
  access: read,
  params: {},
  answer: {
    status: 200,
    body: shape<LicenseUsage>({
      required: {
        tenant_id: text('Tenant of the caller.'),
        plan: text('Id of the plan in effect.'),
        license: licenseSummary,
        usage: Joi.object({
          workers: {
            ...used,
            registered: count('Workers with a credential that is not revoked.'),
            connected: count('Workers with a recent heartbeat.'),
          },
          concurrent_jobs: used,
          active_workflows: used,
          workflow_steps: { allowed },
          schemas: used,
          policy_bundles: used,
          tenants: used,
          requests_per_second: { allowed },
          prompt_chars: { allowed },
          body_bytes: { allowed },
          artifact_bytes: { allowed },
          approval_mode: { allowed: text('single, multi or custom') },
        }),
      },
    }),
  },
  errors: [],
});

export const reloadLicense = endpoint({
  id: 'license.reload',
  method: 'post',
  path: '/api/v1/license/reload',
  summary: 'Read the license again, in every process',
  description:
    'The other processes read it within two seconds, each from its own file or variable. An invalid license is not an error: the status is `fallback` and the plan Community. Any body is ignored.',
  access: { permission: 'admin.*', roles: ['admin'] },
  audit: { type: 'license.reloaded', action: 'license.reload', severity: 'HIGH' },
  owner: 'installation',
  params: {},
  rawBody: true,
  answer: {
    status: 200,
    body: shape<{ status: string; plan: string; license: LicenseSummary }>({
      required: {
        status: Joi.string().valid('reloaded'),
        plan: text('Id of the plan in effect.'),
        license: licenseSummary,
      },
    }),
  },
  errors: ['store_unavailable'],
});

export const licenseEndpoints = [getLicense, getLicenseUsage, reloadLicense] as const;
