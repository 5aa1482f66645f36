import Joi from 'joi';
import { endpoint } from '../endpoint';
import { count, text, trimmed } from '../fields';
import { limits } from '../limits';
import { shape } from '../shape';
import { keyScopes } from './key-scopes';

/** A managed API key, without its secret. See docs/reference/access.md#managed-keys. */
export interface ApiKeyView {
  id: string;
  name: string;
  prefix: string;
  scopes: string[];
  createdAt: string;
  usageCount: number;
  lastUsed?: string;
  expiresAt?: string;
}
export interface CreateApiKeyBody {
  name: string;
  scopes: string[];
  expiresAt?: string;
}
export interface CreatedApiKey {
  key: ApiKeyView;
  secret: string;
}

const fault = 'auth_key_invalid';
const scope = Joi.string().valid(...keyScopes);

const apiKeyView = shape<ApiKeyView>({
  required: {
    id: text('Id of the key.'),
    name: text('Name of the key.'),
    prefix: text('First 11 characters of the secret.'),
    scopes: Joi.array().items(scope).description('Scopes of the key; none = the role viewer on every resource.'),
    createdAt: text('Time of creation.'),
    usageCount: count('Number of authenticated requests.'),
  },
  optional: {
    lastUsed: text('Time of the last authenticated request.'),
    expiresAt: text('Time from which the key is refused.'),
  },
});

export const listApiKeys = endpoint({
  id: 'keys.list',
  method: 'get',
  path: '/api/v1/auth/keys',
  summary: 'Managed API keys of the caller’s tenant, newest first',
  description: 'Revoked keys are not listed.',
  access: { permission: 'apiKeys.read', roles: ['admin'] },
  params: {},
  answer: {
    status: 200,
    body: shape<{ items: ApiKeyView[] }>({ required: { items: Joi.array().items(apiKeyView) } }),
  },
  errors: ['store_unavailable'],
});

export const createApiKey = endpoint({
  id: 'keys.create',
  method: 'post',
  path: '/api/v1/auth/keys',
  summary: 'Create an API key in the caller’s tenant',
  description:
    'The secret is in this response only. A key never allows more than its maker may do, and its maker cannot approve with it what he submitted himself.',
  access: { permission: 'apiKeys.write', roles: ['admin'] },
  audit: { type: 'auth.api_key_created', action: 'api_key.create' },
  params: {},
  body: shape<CreateApiKeyBody>({
    required: {
      name: trimmed().min(1).max(limits.apiKeyNameChars).description('Name of the key.'),
      scopes: Joi.array()
        .items(scope)
        .unique()
        .default([])
        .description('Scopes of the key; none = the role viewer on every resource.'),
    },
    optional: { expiresAt: Joi.string().max(64).description('Time from which the key is refused, as RFC 3339.') },
  }),
  violationCodes: { name: fault, scopes: fault, expiresAt: fault },
  answer: {
    status: 201,
    body: shape<CreatedApiKey>({ required: { key: apiKeyView, secret: text('The key, to be sent as X-API-Key.') } }),
  },
  errors: [fault, 'grant_exceeds_caller', 'store_unavailable'],
});

export const revokeApiKey = endpoint({
  id: 'keys.revoke',
  method: 'delete',
  path: '/api/v1/auth/keys/:id',
  summary: 'Revoke an API key',
  description: 'Its sessions and streams end within a second.',
  access: { permission: 'apiKeys.write', roles: ['admin'] },
  audit: { type: 'auth.api_key_revoked', action: 'api_key.revoke', resource: ['api_key', 'id'] },
  params: { id: Joi.string().max(128).description('Id of the key.') },
  answer: { status: 204 },
  errors: ['auth_key_not_found', 'store_unavailable'],
  otherTenant: 'absent',
});

export const apiKeyEndpoints = [listApiKeys, createApiKey, revokeApiKey] as const;
