import Joi from 'joi';
import { endpoint } from '../endpoint';
import { strings, text } from '../fields';
import { shape } from '../shape';
import { authUser, enteredPassword, type AuthUser } from './user-fields';

const fault = 'auth_request_invalid';
const onOff = (description: string) => Joi.boolean().description(description);

export interface AuthConfigView {
  password_enabled: boolean;
  user_auth_enabled: boolean;
  saml_enabled: boolean;
  saml_enterprise: boolean;
  require_rbac: boolean;
  require_principal: boolean;
  oidc_enabled: boolean;
  saml_login_url: string;
  saml_metadata_url: string;
  oidc_issuer: string;
  oidc_login_url: string;
  oidc_client_id: string;
  oidc_redirect_uri: string;
  oidc_client_secret_masked: string;
  default_tenant: string;
  session_ttl: string;
  oidc_scopes: string[];
  totp_available: boolean;
  oidc_groups_claim?: string;
  oidc_group_role_mapping?: Record<string, string>;
}

export const authConfigView = shape<AuthConfigView>({
  required: {
    password_enabled: onOff('Whether sign-in by password or API key is possible.'),
    user_auth_enabled: onOff('Whether there are users with passwords.'),
    saml_enabled: onOff('Whether sign-in with SAML is configured and licensed.'),
    saml_enterprise: onOff('Always true: SAML needs a license.'),
    require_rbac: onOff('Whether permissions decide, rather than roles.'),
    require_principal: onOff('Always false.'),
    oidc_enabled: onOff('Whether sign-in with OpenID Connect is configured and licensed.'),
    saml_login_url: text('Where sign-in with SAML begins; empty without it.'),
    saml_metadata_url: text('Metadata for the SAML provider; empty without it.'),
    oidc_issuer: text('OpenID provider; empty without one, as the fields below.'),
    oidc_login_url: text('Where sign-in with OpenID Connect begins.'),
    oidc_client_id: text('Client id at the provider.'),
    oidc_redirect_uri: text('Callback at this gateway.'),
    oidc_client_secret_masked: text('Client secret with most characters replaced by stars.'),
    default_tenant: text('Tenant of sign-ins that name none.'),
    session_ttl: text('Longest lifetime of a session, such as 24h.'),
    oidc_scopes: strings('Scopes requested from the provider.'),
    totp_available: onOff('Whether users can add a second factor.'),
  },
  optional: {
    oidc_groups_claim: text('Claim that contains the groups.'),
    oidc_group_role_mapping: Joi.object().pattern(/.*/, Joi.string()).description('Groups and their roles.'),
  },
});

export const getAuthConfig = endpoint({
  id: 'auth.config',
  method: 'get',
  path: '/api/v1/auth/config',
  summary: 'Ways to sign in',
  access: 'public',
  params: {},
  answer: { status: 200, body: authConfigView },
  errors: [],
});

export interface LoginBody {
  username: string;
  password: string;
  tenant?: string;
  totp?: string;
  recovery_code?: string;
}
export interface SessionView {
  token: string;
  expires_at: string;
  user: AuthUser;
}

export const sessionView = shape<SessionView>({
  required: {
    token: text('Session token; masked for API keys, and when the session is read.'),
    expires_at: text('End of the session, RFC 3339.'),
    user: authUser,
  },
});

export const login = endpoint({
  id: 'auth.login',
  method: 'post',
  path: '/api/v1/auth/login',
  summary: 'Sign in with a password or an API key',
  description:
    'Sets the cookie `svc_session`. Every refusal of the password, and of the second factor, is the same answer. See docs/reference/users.md.',
  access: 'public',
  signsIn: true,
  audit: 'self',
  params: {},
  body: shape<LoginBody>({
    required: {
      username: Joi.string().max(256).allow('').description('Username or e-mail address; ignored for an API key.'),
      password: enteredPassword.description('Password, or an API key.'),
    },
    optional: {
      tenant: Joi.string().max(128).allow('').description('Tenant of the user; the default tenant otherwise.'),
      totp: Joi.string().max(16).allow('').description('Code of the authenticator.'),
      recovery_code: Joi.string().max(64).allow('').description('Recovery code, instead of a code.'),
    },
  }),
  violationCodes: { username: fault, password: fault, tenant: fault, totp: fault, recovery_code: fault },
  answer: { status: 200, body: sessionView },
  errors: [
    ...([fault, 'auth_invalid_credentials', 'auth_totp_required', 'tenant_access_denied'] as const),
    ...(['origin_not_allowed', 'rate_limited', 'overloaded', 'store_unavailable'] as const),
  ],
});

export const getSession = endpoint({
  id: 'auth.session',
  method: 'get',
  path: '/api/v1/auth/session',
  summary: 'The caller, and when the session ends',
  access: { roles: 'any' },
  params: {},
  answer: { status: 200, body: sessionView },
  errors: [],
});

export const logout = endpoint({
  id: 'auth.logout',
  method: 'post',
  path: '/api/v1/auth/logout',
  summary: 'End the session',
  description: 'Ends every session that the request names, and removes the cookie.',
  access: { roles: 'any' },
  audit: { type: 'system.auth', action: 'auth.sign_out' },
  params: {},
  answer: { status: 204 },
  errors: ['store_unavailable'],
});

export interface ChangePasswordBody {
  current_password: string;
  new_password: string;
}

export const changePassword = endpoint({
  id: 'auth.password',
  method: 'post',
  path: '/api/v1/auth/password',
  summary: 'Change the own password',
  description: 'Ends all sessions of the user, also this one.',
  access: { roles: 'any' },
  audit: 'self',
  params: {},
  body: shape<ChangePasswordBody>({
    required: {
      current_password: enteredPassword.description('Password in use.'),
      new_password: enteredPassword.description('New password.'),
    },
  }),
  violationCodes: { current_password: fault, new_password: fault },
  answer: { status: 204 },
  errors: [
    ...([fault, 'auth_password_invalid', 'auth_invalid_credentials', 'auth_user_not_found'] as const),
    ...(['auth_user_version_conflict', 'rate_limited', 'overloaded', 'store_unavailable'] as const),
  ],
});

export const authEndpoints = [getAuthConfig, login, getSession, logout, changePassword] as const;
