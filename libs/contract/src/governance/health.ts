import Joi from 'joi';
import { endpoint } from '../endpoint';
import { count, text } from '../fields';
import { limits } from '../limits';
import { shape } from '../shape';

/** State of the audit chain of a tenant; `unavailable`: it cannot be verified. */
export const chainStates = ['ok', 'partial', 'compromised', 'unavailable'] as const;
export type ChainState = (typeof chainStates)[number];

interface Factor<Raw> {
  score: number;
  weight: number;
  raw: Raw;
  notes?: string;
}
export interface DenialRaw {
  allow: number;
  deny: number;
  require_approval: number;
  other: number;
  truncated: boolean;
  scanned_events: number;
}
export interface LatencyRaw {
  p95_ms: number | null;
  samples: number;
  truncated: boolean;
}
export interface CoverageRaw {
  topics: number;
  covered: number;
  ratio: number | null;
}
/** See docs/reference/governance.md#health. */
export interface GovernanceHealthView {
  score: number;
  grade: 'A' | 'B' | 'C' | 'D' | 'F';
  generated_at: string;
  factors: {
    denial_rate: Factor<DenialRaw>;
    approval_latency_p95: Factor<LatencyRaw>;
    policy_coverage: Factor<CoverageRaw>;
    chain_integrity: Factor<ChainState>;
  };
  truncated_at_max?: boolean;
}

const factor = <Raw>(raw: Joi.Schema<Raw>) =>
  shape<Factor<unknown>>({
    required: {
      score: Joi.number().min(0).max(100).description('Score of the factor; 70 without data.'),
      weight: count('Weight in the total.'),
      raw,
    },
    optional: { notes: text('Remark about the factor.') },
  }) as Joi.ObjectSchema<Factor<Raw>>;
const truncated = Joi.boolean().description('Only the newest records were read.');

export const governanceHealth = endpoint({
  id: 'governance.health',
  method: 'get',
  path: '/api/v1/governance/health',
  summary: 'Health of the governance of a tenant, from 0 to 100',
  description: 'Of the last 24 hours. Results may be one minute old.',
  access: { roles: ['admin'] },
  params: {},
  query: shape<{ tenant?: string }>({
    required: {},
    optional: {
      tenant: Joi.string().max(limits.idChars).description('Default: the caller’s; others need access to all tenants.'),
    },
  }),
  answer: {
    status: 200,
    body: shape<GovernanceHealthView>({
      required: {
        score: Joi.number().min(0).max(100).description('Weighted mean; at most 55 while the chain is compromised.'),
        grade: Joi.string<GovernanceHealthView['grade']>().valid('A', 'B', 'C', 'D', 'F'),
        generated_at: text('Time of the computation. RFC 3339.'),
        factors: shape<GovernanceHealthView['factors']>({
          required: {
            denial_rate: factor(
              shape<DenialRaw>({
                required: {
                  allow: count('Permitted decisions.'),
                  deny: count('Denials.'),
                  require_approval: count('Holds.'),
                  other: count('Throttled decisions.'),
                  truncated,
                  scanned_events: count('Decisions that were read.'),
                },
              }),
            ),
            approval_latency_p95: factor(
              shape<LatencyRaw>({
                required: {
                  p95_ms: Joi.number()
                    .allow(null)
                    .description('95th percentile of the time to a resolution; null without any.'),
                  samples: count('Resolutions by people.'),
                  truncated,
                },
              }),
            ),
            policy_coverage: factor(
              shape<CoverageRaw>({
                required: {
                  topics: count('Registered topics.'),
                  covered: count('Topics that match a rule.'),
                  ratio: Joi.number().min(0).max(1).allow(null).description('covered / topics; null without topics.'),
                },
              }),
            ),
            chain_integrity: factor(Joi.string<ChainState>().valid(...chainStates)),
          },
        }),
      },
      optional: { truncated_at_max: Joi.boolean().description('Present and true when a factor is truncated.') },
    }),
  },
  errors: ['tenant_access_denied'],
});

export const governanceHealthEndpoints = [governanceHealth] as const;
