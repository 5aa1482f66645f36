import Joi from 'joi';
import { endpoint } from '../endpoint';
import { text, trimmed } from '../fields';
import { shape } from '../shape';
import { workerIdPattern } from '../subjects';

/** See docs/reference/worker-protocol.md#credentials. */
export interface WorkerCredentialView {
  worker_id: string;
  tenant_id: string;
  allowed_pools: string[];
  allowed_topics: string[];
  public_keys: string[];
  created_by: string;
  created_at: string;
  agent_id?: string;
  revoked_at?: string;
}

export interface CreatedWorkerCredential extends WorkerCredentialView {
  token?: string;
}

export interface WorkerCredentialBody {
  worker_id: string;
  allowed_pools: string[];
  allowed_topics: string[];
  public_keys: string[];
  keep_token: boolean;
  agent_id?: string;
}

/** Entry of `allowed_pools` that stands for all of them. */
export const anyPool = '*';
/** Topics of a credential whose body names none: those of its pools. */
export const anyTopic = 'job.>';

const MAX_ENTRIES = 100;
const MAX_CHARS = 128;
const MAX_KEYS = 4;
const MAX_KEY_CHARS = 1_000;
const fault = 'worker_credential_invalid';

const workerId = Joi.string()
  .pattern(workerIdPattern)
  .messages({ 'string.pattern.base': '{{#label}} must be letters, digits, _ and -, at most 128' })
  .description('Worker id.');

const fields = {
  worker_id: text('Worker that may use the token.'),
  tenant_id: text('Tenant whose jobs the worker may run; a worker of the default tenant may run the jobs of all tenants.'),
  allowed_pools: Joi.array().items(Joi.string()).description('Pools that the worker may join; * = all of them, empty = none.'),
  allowed_topics: Joi.array().items(Joi.string()).description('Topics, or patterns, whose jobs the worker may run; empty = none.'),
  public_keys: Joi.array().items(Joi.string()).description('Keys that verify the signatures of its packets, as PEM.'),
  created_by: text('Principal that last wrote the credential.'),
  created_at: text('Time at which the credential was last written, also with keep_token.'),
}; // prettier-ignore
const optionalFields = {
  agent_id: text('Agent that the worker acts for.'),
  revoked_at: text('Time at which the credential was revoked; absent while it is valid.'),
};

export const listWorkerCredentials = endpoint({
  id: 'workers.credentials',
  method: 'get',
  path: '/api/v1/workers/credentials',
  summary: 'Worker credentials of the caller’s tenant, by worker id, revoked ones included',
  access: { permission: 'workerCredentials.read', roles: ['admin'] },
  params: {},
  answer: {
    status: 200,
    body: shape<{ items: WorkerCredentialView[] }>({
      required: {
        items: Joi.array().items(shape<WorkerCredentialView>({ required: fields, optional: optionalFields })),
      },
    }),
  },
  errors: [],
});

const created = shape<CreatedWorkerCredential>({
  required: fields,
  optional: {
    ...optionalFields,
    token: text('The token, shown only in this response; absent when the old one was kept.'),
  },
});

export const createWorkerCredential = endpoint({
  id: 'workers.createCredential',
  method: 'post',
  path: '/api/v1/workers/credentials',
  summary: 'Create the credential of a worker, or replace it by a new one',
  description: 'A replaced token is refused within a second by all replicas.',
  access: { permission: 'workerCredentials.write', roles: ['admin'] },
  audit: {
    type: 'worker_trust_change',
    action: 'worker.credential_issued',
    resource: ['worker', 'worker_id'],
    severity: 'HIGH',
  },
  params: {},
  body: shape<WorkerCredentialBody>({
    required: {
      worker_id: workerId,
      allowed_pools: Joi.array()
        .items(trimmed().min(1).max(MAX_CHARS))
        .max(MAX_ENTRIES)
        .default([])
        .description('Pools that the worker may join; * = all of them, empty = none.'),
      allowed_topics: Joi.array()
        .items(
          trimmed()
            .max(MAX_CHARS)
            .pattern(/^job(\.([^\s.*>]+|\*))*(\.>)?$/)
            .messages({ 'string.pattern.base': '{{#label}} must be a topic or a pattern that begins with job' }),
        )
        .max(MAX_ENTRIES)
        .default([anyTopic])
        .description('Topics whose jobs the worker may run; * matches one token, > the rest, and empty = none.'),
      public_keys: Joi.array()
        .items(Joi.string().max(MAX_KEY_CHARS))
        .max(MAX_KEYS)
        .default([])
        .description('P-256 public keys (PEM) with which the worker signs; during a rotation the old and the new one.'),
      keep_token: Joi.boolean()
        .default(false)
        .description('Changes the other fields only; the worker keeps its token.'),
    },
    optional: { agent_id: trimmed().min(1).max(MAX_CHARS).description('Agent that the worker acts for.') },
  }),
  violationCodes: {
    worker_id: fault,
    allowed_pools: fault,
    allowed_topics: fault,
    public_keys: fault,
    agent_id: fault,
  },
  answer: { status: 201, body: created },
  otherAnswers: { 200: { description: 'Replaced', body: created } },
  errors: [fault, 'pool_not_found', 'topic_not_found', 'worker_credential_not_found', 'tier_limit_exceeded'],
});

export const revokeWorkerCredential = endpoint({
  id: 'workers.revokeCredential',
  method: 'delete',
  path: '/api/v1/workers/credentials/:worker_id',
  summary: 'Revoke the credential of a worker, and end its session',
  description: 'All replicas refuse the token within a second. The record is kept; revoking it again changes nothing.',
  access: { permission: 'workerCredentials.write', roles: ['admin'] },
  audit: {
    type: 'worker_trust_change',
    action: 'worker.credential_revoked',
    resource: ['worker', 'worker_id'],
    severity: 'HIGH',
  },
  params: { worker_id: Joi.string().min(1).max(256).description('Worker id.') },
  answer: { status: 204 },
  errors: ['worker_credential_not_found'],
  otherTenant: 'absent',
});

export interface RevokedSession {
  worker_id: string;
  tenant: string;
  revoked: boolean;
}

export const revokeWorkerSession = endpoint({
  id: 'workers.revokeSession',
  method: 'post',
  path: '/api/v1/workers/:id/revoke-session',
  summary: 'End the session of a worker, which must then prove its key again',
  description: 'All replicas refuse its session token within a second, and its jobs are retried elsewhere.',
  access: { permission: 'workers.write', roles: ['admin'] },
  audit: {
    type: 'worker_trust_change',
    action: 'worker.session_revoked',
    resource: ['worker', 'id'],
    severity: 'HIGH',
  },
  params: { id: Joi.string().min(1).max(256).description('Worker id.') },
  answer: {
    status: 200,
    body: shape<RevokedSession>({
      required: {
        worker_id: text('Worker id.'),
        tenant: text('Tenant of its credential.'),
        revoked: Joi.boolean().description('Always true.'),
      },
    }),
  },
  errors: ['worker_not_found', 'service_unavailable'],
  otherTenant: 'absent',
});

/** See docs/reference/worker-protocol.md#grants. */
export interface GrantKeyView {
  key_id: string;
  public_key: string;
}

export const listGrantKeys = endpoint({
  id: 'workers.grantKeys',
  method: 'get',
  path: '/api/v1/workers/grant-keys',
  summary: 'Public key with which workers verify the grants of dispatches',
  description: 'Empty when dispatches have no grants.',
  access: { permission: 'workers.read', roles: ['admin', 'operator', 'user', 'viewer'] },
  params: {},
  answer: {
    status: 200,
    body: shape<{ items: GrantKeyView[] }>({
      required: {
        items: Joi.array().items(
          shape<GrantKeyView>({
            required: {
              key_id: text('First 16 hex digits of the SHA-256 of the public key.'),
              public_key: text('Ed25519 public key, as PEM.'),
            },
          }),
        ),
      },
    }),
  },
  errors: [],
});

export const workerTrustEndpoints = [
  listGrantKeys,
  listWorkerCredentials,
  createWorkerCredential,
  revokeWorkerCredential,
  revokeWorkerSession,
] as const;
