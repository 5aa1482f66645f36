import Joi from 'joi';
import { endpoint } from '../endpoint';
import { text, trimmed } from '../fields';
import { limits } from '../limits';
import type { Access } from '../permissions';
import { shape } from '../shape';

/** A legal hold of a tenant. Active until it is released. See docs/reference/audit.md#legal-holds. */
export interface LegalHold {
  id: string;
  tenant_id: string;
  reason: string;
  created_by: string;
  /** RFC 3339. */
  created_at: string;
  released_at?: string;
  released_by?: string;
}

export interface LegalHoldRequest {
  tenant_id?: string;
  reason: string;
}

const read: Access = { permission: 'legalHold.read', roles: ['admin'] };
const write: Access = { permission: 'legalHold.write', roles: ['admin'] };
const entitled = 'tier_limit_exceeded' as const;

const legalHold = shape<LegalHold>({
  required: {
    id: text('Id of the hold.'),
    tenant_id: text('Tenant whose records are kept.'),
    reason: text('Reason, as given.'),
    created_by: text('Who created it.'),
    created_at: Joi.string().isoDate().description('Time of creation.'),
  },
  optional: {
    released_at: Joi.string().isoDate().description('Time of the release; absent while the hold is active.'),
    released_by: text('Who released it.'),
  },
});

export const createLegalHold = endpoint({
  id: 'holds.create',
  method: 'post',
  path: '/api/v1/audit/legal-hold',
  summary: 'Keep the records of a tenant until the hold is released',
  description:
    'While a hold is active, no audit event, job, run, artifact, dead letter or chat message of the tenant expires. Records that already have an expiry lose it within seconds.',
  access: write,
  entitledBy: ['legal_hold'],
  audit: 'self',
  params: {},
  body: shape<LegalHoldRequest>({
    required: {
      reason: trimmed().min(1).max(limits.legalHoldReasonChars).description('Why the records are kept.'),
    },
    optional: {
      tenant_id: Joi.string()
        .max(256)
        .description(
          'Tenant; another than the caller’s needs cross-tenant access. Default: the default tenant of the installation for callers who may act for it, else the caller’s.',
        ),
    },
  }),
  violationCodes: { reason: 'legal_hold_reason_required' },
  answer: { status: 201, body: shape<{ hold: LegalHold }>({ required: { hold: legalHold } }) },
  errors: ['legal_hold_reason_required', 'legal_hold_exists', 'tenant_access_denied', entitled],
});

export const listLegalHolds = endpoint({
  id: 'holds.list',
  method: 'get',
  path: '/api/v1/audit/legal-holds',
  summary: 'Legal holds, active and released, newest first',
  description: `At most the newest ${limits.legalHoldsListed}.`,
  access: read,
  entitledBy: ['legal_hold'],
  params: {},
  query: shape<{ tenant?: string }>({
    required: {},
    optional: { tenant: Joi.string().allow('').max(256).description('Only holds of this tenant.') },
  }),
  answer: {
    status: 200,
    body: shape<{ holds: LegalHold[] }>({ required: { holds: Joi.array().items(legalHold) } }),
  },
  errors: ['tenant_access_denied', entitled],
});

export const releaseLegalHold = endpoint({
  id: 'holds.release',
  method: 'delete',
  path: '/api/v1/audit/legal-hold/:id',
  summary: 'Release a legal hold',
  description:
    'Records past their retention are removed within seconds, audit events by the next run of retention, at most an hour later.',
  access: write,
  entitledBy: ['legal_hold'],
  audit: 'self',
  params: { id: Joi.string().max(64).description('Id of the hold.') },
  answer: {
    status: 200,
    body: shape<{ released: boolean; id: string }>({
      required: { released: Joi.boolean().valid(true), id: text('Id of the hold.') },
    }),
  },
  errors: ['legal_hold_not_found', 'legal_hold_already_released', entitled],
  otherTenant: 'absent',
});

export const legalHoldEndpoints = [createLegalHold, listLegalHolds, releaseLegalHold] as const;
