import Joi from 'joi';
import { endpoint } from '../endpoint';
import { count, pageLimit, text, trimmed } from '../fields';
import type { Access } from '../permissions';
import { shape } from '../shape';

const tenantStatuses = ['active', 'suspended', 'deleting', 'deleted'] as const;
export type TenantStatus = (typeof tenantStatuses)[number];

/** A tenant. See docs/reference/tenants.md. */
export interface TenantView {
  id: string;
  status: TenantStatus;
  display_name: string;
  /** Why it was suspended. */
  reason?: string;
  created_by?: string;
  /** RFC 3339; absent for tenants that exist only by their use. */
  created_at?: string;
  updated_at?: string;
  /** Progress of a deletion. */
  erasure?: { phase: string; removed: number };
}

const time = (description: string) => Joi.string().isoDate().description(description);
const view = shape<TenantView>({
  required: {
    id: text('Name of the tenant.'),
    status: Joi.string<TenantStatus>()
      .valid(...tenantStatuses)
      .description('suspended and deleting: its credentials are refused and none of its jobs is dispatched.'),
    display_name: text('Name for people.'),
  },
  optional: {
    reason: text('Reason of the last suspension.'),
    created_by: text('Who created it.'),
    created_at: time('Time of creation; absent for tenants that were not created with this API.'),
    updated_at: time('Time of the last change.'),
    erasure: Joi.object({
      phase: text('Part of the deletion that is in progress, or done.'),
      removed: count('Number of keys removed so far.'),
    }).description('Progress of a deletion.'),
  },
});

const admin: Access = { permission: 'admin.*', roles: ['admin'] };
const params = {
  tenant: Joi.string()
    .pattern(/^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/)
    .description('Name of the tenant.'),
};
const refused = 'tenant_access_denied' as const;
const path = '/api/v1/tenants/:tenant' as const;

export const listTenants = endpoint({
  id: 'tenants.list',
  method: 'get',
  path: '/api/v1/tenants',
  summary: 'Tenants, by name',
  description: 'Those created, and those that credentials name and that were used. Deleted ones are not listed.',
  owner: 'installation',
  access: admin,
  params: {},
  query: shape<{ limit?: number; cursor?: string }>({
    required: {},
    optional: {
      limit: pageLimit(100),
      cursor: Joi.string().allow('').max(128).description('next_cursor of the page before.'),
    },
  }),
  answer: {
    status: 200,
    body: shape<{ items: TenantView[]; next_cursor: string | null }>({
      required: {
        items: Joi.array().items(view),
        next_cursor: text('null at the end.').allow(null),
      },
    }),
  },
  errors: [refused],
});

export const createTenant = endpoint({
  id: 'tenants.create',
  method: 'post',
  path: '/api/v1/tenants',
  summary: 'Create a tenant',
  description: 'A tenant that a credential names needs no creation. The name of a deleted tenant may be used again.',
  owner: 'installation',
  access: admin,
  audit: 'self',
  params: {},
  body: shape<{ id: string; display_name?: string }>({
    required: { id: params.tenant },
    optional: { display_name: trimmed().allow('').max(256).description('Name for people.') },
  }),
  answer: { status: 201, body: view },
  errors: ['tenant_exists', 'tier_limit_exceeded', refused],
});

export const getTenant = endpoint({
  id: 'tenants.get',
  method: 'get',
  path,
  summary: 'A tenant, with the progress of its deletion',
  owner: 'installation',
  access: admin,
  params,
  answer: { status: 200, body: view },
  errors: ['tenant_not_found', refused],
});

export const suspendTenant = endpoint({
  id: 'tenants.suspend',
  method: 'post',
  path: `${path}/suspend`,
  summary: 'Stop everything of a tenant',
  description:
    'Within a second every replica refuses its credentials and ends its streams; running jobs are cancelled and the others wait. Repeating it changes nothing.',
  owner: 'installation',
  access: admin,
  audit: 'self',
  params,
  body: shape<{ reason: string }>({
    required: { reason: trimmed().min(1).max(2_000).description('Why it is suspended.') },
  }),
  answer: { status: 200, body: view },
  errors: ['tenant_not_found', 'tenant_state_conflict', 'tenant_protected', refused],
});

export const resumeTenant = endpoint({
  id: 'tenants.resume',
  method: 'post',
  path: `${path}/resume`,
  summary: 'Let a suspended tenant continue',
  description: 'Its credentials are valid again and its waiting jobs are dispatched. Cancelled jobs stay cancelled.',
  owner: 'installation',
  access: admin,
  audit: 'self',
  params,
  answer: { status: 200, body: view },
  errors: ['tenant_not_found', 'tenant_state_conflict', refused],
});

export const removeTenant = endpoint({
  id: 'tenants.remove',
  method: 'delete',
  path,
  summary: 'Delete a suspended tenant with everything that belongs to it',
  description:
    'The deletion runs in the background and continues after a restart; read the tenant for its progress. Its audit chain is kept.',
  owner: 'installation',
  access: admin,
  audit: 'self',
  params,
  answer: { status: 200, body: view },
  errors: ['tenant_not_found', 'tenant_state_conflict', 'tenant_protected', 'legal_hold_active', refused],
});

export const tenantEndpoints = [
  listTenants,
  createTenant,
  getTenant,
  suspendTenant,
  resumeTenant,
  removeTenant,
] as const;
