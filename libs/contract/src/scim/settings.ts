import Joi from 'joi';
import { endpoint } from '../endpoint';
import { text } from '../fields';
import { shape } from '../shape';

const access = { roles: ['admin'] } as const;
const refusals = ['tenant_access_denied', 'tier_limit_exceeded', 'store_unavailable'] as const;

/** Where the SCIM token is kept: issued here, set in the environment, or nowhere. */
const scimTokenSources = ['redis', 'env', 'none'] as const;
type ScimTokenSource = (typeof scimTokenSources)[number];

interface ScimManagedUser {
  id: string;
  userName: string;
  displayName: string;
  email: string;
  source: string;
  active: boolean;
  syncedAt: string;
}
export interface ScimSettings {
  entitled: boolean;
  configured: boolean;
  endpointUrl: string;
  bearerTokenMasked: string;
  tokenManagedBy: ScimTokenSource;
  users: ScimManagedUser[];
}

const managedUser = shape<ScimManagedUser>({
  required: {
    id: text('User id.'),
    userName: text('Name of the user.'),
    displayName: text('Name that is shown; empty when not set.'),
    email: text('E-mail address; empty when not set.'),
    source: text('Who created the user: always scim.'),
    active: Joi.boolean().description('Whether the user can sign in.'),
    syncedAt: text('Time of the last change by a SCIM client; RFC 3339.'),
  },
});

const masked = text('First 8 and last 4 characters of the token; empty without a token.');

export const getScimSettings = endpoint({
  id: 'scim.settings',
  method: 'get',
  path: '/api/v1/scim/settings',
  summary: 'How SCIM is set up, and the users that it manages',
  access,
  entitledBy: ['scim'],
  params: {},
  answer: {
    status: 200,
    body: shape<ScimSettings>({
      required: {
        entitled: Joi.boolean().description('Whether the license includes SCIM.'),
        configured: Joi.boolean().description('Whether there is a token.'),
        endpointUrl: text('URL of the users endpoint, for the identity provider.'),
        bearerTokenMasked: masked,
        tokenManagedBy: Joi.string<ScimTokenSource>().valid(...scimTokenSources).description('Where the token is kept.'),
        users: Joi.array().items(managedUser).description('Users that were created through SCIM, by name.'),
      },
    }),
  },
  errors: refusals,
  owner: 'installation',
}); // prettier-ignore

export interface IssuedScimToken {
  bearerToken: string;
  bearerTokenMasked: string;
  tokenManagedBy: 'redis';
}

export const rotateScimToken = endpoint({
  id: 'scim.rotateToken',
  method: 'post',
  path: '/api/v1/scim/settings/token',
  summary: 'Issue a new SCIM token',
  description:
    'The token before it stays valid for ten minutes, so that the identity provider can be changed without a gap; issuing another one ends that at once. The token is shown once.',
  access,
  entitledBy: ['scim'],
  audit: 'self',
  params: {},
  answer: {
    status: 200,
    body: shape<IssuedScimToken>({
      required: {
        bearerToken: text('The token, for the identity provider.'),
        bearerTokenMasked: masked,
        tokenManagedBy: Joi.string<'redis'>().valid('redis').description('Always redis.'),
      },
    }),
  },
  errors: [...refusals, 'scim_conflict'],
  owner: 'installation',
});

export const scimSettingsEndpoints = [getScimSettings, rotateScimToken] as const;
