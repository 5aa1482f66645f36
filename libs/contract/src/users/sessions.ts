import Joi from 'joi';
import { endpoint } from '../endpoint';
import { count, text } from '../fields';
import { shape } from '../shape';

interface OwnSession {
  id: string;
  method: string;
  address: string;
  created_at: string;
  last_seen_at: string;
  expires_at: string;
  current: boolean;
}
export interface OwnSessions {
  items: OwnSession[];
}

export const listOwnSessions = endpoint({
  id: 'auth.sessions',
  method: 'get',
  path: '/api/v1/auth/sessions',
  summary: 'Own sessions, newest first',
  description: 'Sessions of the user, or of the API key, that calls. Other credentials have none.',
  access: { roles: 'any' },
  params: {},
  answer: {
    status: 200,
    body: shape<OwnSessions>({
      required: {
        items: Joi.array().items(
          shape<OwnSession>({
            required: {
              id: text('Session id, which does not reveal the token.'),
              method: text('How it was opened: password, api_key, oidc or saml.'),
              address: text('Address of the client that signed in.'),
              created_at: text('Sign-in, RFC 3339.'),
              last_seen_at: text('Last request, RFC 3339, accurate to a minute.'),
              expires_at: text('When it ends at the latest, RFC 3339.'),
              current: Joi.boolean().description('Whether this request uses it.'),
            },
          }),
        ),
      },
    }),
  },
  errors: ['store_unavailable'],
});

export const endOwnSession = endpoint({
  id: 'auth.endSession',
  method: 'delete',
  path: '/api/v1/auth/sessions/:session_id',
  summary: 'End an own session',
  access: { roles: 'any' },
  audit: { type: 'system.auth', action: 'auth.session_ended', resource: ['session', 'session_id'] },
  params: { session_id: Joi.string().min(1).max(64).description('Session id.') },
  answer: { status: 204 },
  errors: ['auth_session_not_found', 'store_unavailable'],
  otherTenant: 'absent',
});

export interface EndedSessions {
  ended: number;
}

export const endOtherSessions = endpoint({
  id: 'auth.endOtherSessions',
  method: 'delete',
  path: '/api/v1/auth/sessions',
  summary: 'End all own sessions but this one',
  access: { roles: 'any' },
  audit: { type: 'system.auth', action: 'auth.sessions_ended' },
  params: {},
  answer: { status: 200, body: shape<EndedSessions>({ required: { ended: count('Number of sessions ended.') } }) },
  errors: ['store_unavailable'],
});

export const ownSessionEndpoints = [listOwnSessions, endOwnSession, endOtherSessions] as const;
