import Joi from 'joi';
import { endpoint } from '../endpoint';
import { count, text } from '../fields';
import { shape } from '../shape';

/** Limits of a lock; times in ms. */
export const lockLimits = { resourceChars: 512, ownerChars: 256, standardMs: 30_000, maxMs: 3_600_000 } as const;

export const lockModes = ['exclusive', 'shared'] as const;
export type LockModeName = (typeof lockModes)[number];

/** A lock that is held. See docs/reference/locks.md. */
export interface LockView {
  resource: string;
  mode: LockModeName;
  owners: Record<string, number>;
  updated_at: string;
  expires_at: string;
  fencing_token: number;
}
export interface LockBody {
  resource: string;
  owner: string;
}
export interface LockRenewal extends LockBody {
  ttl_ms: number;
}
export interface LockRequest extends LockRenewal {
  mode: LockModeName;
}
/** See docs/reference/locks.md#all-locks. */
export interface LockEntryView {
  key: string;
  holder: string;
  ttl_remaining_ms: number;
  type: string;
}

const lockView = shape<LockView>({
  required: {
    resource: text('Name of the lock, private to the tenant.'),
    mode: Joi.string<LockModeName>().valid(...lockModes),
    owners: Joi.object().pattern(/.*/, Joi.number()).description('Number of acquisitions by owner.'),
    updated_at: text('Time of the last change.'),
    expires_at: text('Time at which the last owner expires.'),
    fencing_token: count(
      'Token of the owner of the request, else the greatest one of all owners. Every new holding gets a greater token.',
    ),
  },
});

const resource = Joi.string().max(lockLimits.resourceChars).description('Name of the lock.');
const owner = Joi.string().max(lockLimits.ownerChars).description('Name of the holder, chosen by the client.');
const ttl_ms = Joi.number()
  .integer()
  .min(0)
  .max(lockLimits.maxMs)
  .default(lockLimits.standardMs)
  .description(`Time after which the owner loses the lock; 0 = ${lockLimits.standardMs}.`);

const reads = { permission: 'locks.read', roles: ['admin', 'operator', 'viewer'] } as const;
const writes = { permission: 'admin.*', roles: ['admin'] } as const;
const violationCodes = { resource: 'resource_required' } as const;

export const getLock = endpoint({
  id: 'locks.get',
  method: 'get',
  path: '/api/v1/locks',
  summary: 'Read a lock of the caller’s tenant',
  access: reads,
  params: {},
  query: shape<{ resource: string }>({ required: { resource } }),
  violationCodes,
  answer: { status: 200, body: lockView },
  errors: ['resource_required', 'lock_not_found'],
});

export const acquireLock = endpoint({
  id: 'locks.acquire',
  method: 'post',
  path: '/api/v1/locks/acquire',
  summary: 'Acquire a lock of the caller’s tenant',
  description:
    'An owner that holds the lock acquires it once more. A shared lock has many owners; an exclusive request on it succeeds for its only owner.',
  access: writes,
  audit: { type: 'lock.request', action: 'lock.acquire', resource: ['lock', 'resource'] },
  params: {},
  body: shape<LockRequest>({
    required: {
      resource,
      owner,
      mode: Joi.string<LockModeName>()
        .valid(...lockModes)
        .default('exclusive'),
      ttl_ms,
    },
  }),
  violationCodes,
  answer: { status: 200, body: lockView },
  errors: ['resource_required', 'lock_unavailable'],
});

export const releaseLock = endpoint({
  id: 'locks.release',
  method: 'post',
  path: '/api/v1/locks/release',
  summary: 'Release a lock once',
  access: writes,
  audit: { type: 'lock.request', action: 'lock.release', resource: ['lock', 'resource'] },
  params: {},
  body: shape<LockBody>({ required: { resource, owner } }),
  violationCodes,
  answer: {
    status: 200,
    body: shape<{ released: boolean; lock: LockView | null }>({
      required: {
        released: Joi.boolean(),
        lock: lockView.allow(null).description('The lock while it is held, else null.'),
      },
    }),
  },
  errors: ['resource_required', 'lock_not_held'],
});

export const renewLock = endpoint({
  id: 'locks.renew',
  method: 'post',
  path: '/api/v1/locks/renew',
  summary: 'Restart the time of an owner of a lock',
  access: writes,
  audit: { type: 'lock.request', action: 'lock.renew', resource: ['lock', 'resource'] },
  params: {},
  body: shape<LockRenewal>({ required: { resource, owner, ttl_ms } }),
  violationCodes,
  answer: { status: 200, body: lockView },
  errors: ['resource_required', 'lock_not_renewable'],
});

export const listLocks = endpoint({
  id: 'locks.list',
  method: 'get',
  path: '/api/v1/admin/locks',
  owner: 'installation',
  summary: 'Locks, leases, rate limits and caches of the installation',
  description: 'Keys of all tenants, so only admins of the default tenant and callers for all tenants read them.',
  access: writes,
  params: {},
  answer: {
    status: 200,
    body: shape<{ locks: LockEntryView[]; truncated: boolean }>({
      required: {
        locks: Joi.array().items(
          shape<LockEntryView>({
            required: {
              key: text('Key in the store.'),
              holder: text('Owner, if the key has one.'),
              ttl_remaining_ms: count('Remaining time; 0 = no expiry.'),
              type: text('Kind of key, by its prefix.'),
            },
          }),
        ),
        truncated: Joi.boolean().description('More keys may exist.'),
      },
    }),
  },
  errors: ['tenant_access_denied'],
});

export const lockEndpoints = [getLock, acquireLock, releaseLock, renewLock, listLocks] as const;
