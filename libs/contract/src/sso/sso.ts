import Joi from 'joi';
import { endpoint } from '../endpoint';
import { text, trimmed } from '../fields';
import { shape } from '../shape';
import { authConfigView, sessionView } from '../users/auth';

export const ssoLimits = {
  /** A SAML response as XML. */
  samlBytes: 262_144,
  /** A form of a provider: such a response as base64, percent-encoded. */
  formBytes: 409_600,
  /** Entries of the group mapping, and characters of a group name. */
  mappedGroups: 500,
  groupChars: 256,
} as const;

/** Query of the routes that begin a sign-in. */
export interface SignInQuery {
  redirect?: string;
}

export interface OidcCallbackQuery {
  state?: string;
  code?: string;
  iss?: string;
  error?: string;
  error_description?: string;
}

export interface SamlForm {
  SAMLResponse: string;
  RelayState?: string;
}

export interface LogoutForm {
  logout_token: string;
}

export interface GroupMappingBody {
  oidc_groups_claim: string;
  oidc_group_role_mapping: Record<string, unknown>;
}

const MAX_PARAMETER_CHARS = 4_096;
const parameter = (description: string) => Joi.string().allow('').max(MAX_PARAMETER_CHARS).description(description);

const redirected = { 302: { description: 'Redirect to the page that began the sign-in; its fragment has the result' } };
const target = parameter(
  'Page to return to: a path, or a URL of the origin of the pages. Others are replaced by the default; empty = answer with JSON.',
);

export const oidcLogin = endpoint({
  id: 'sso.oidcLogin',
  method: 'get',
  path: '/api/v1/auth/sso/oidc/login',
  summary: 'Begin a sign-in with OpenID Connect',
  access: 'public',
  params: {},
  query: shape<SignInQuery>({ required: {}, optional: { redirect: target } }),
  answer: { status: 302, headers: { Location: 'Authorization endpoint of the provider.' } },
  errors: ['tier_limit_exceeded', 'not_found', 'upstream_service_error', 'store_unavailable'],
});

export const oidcCallback = endpoint({
  id: 'sso.oidcCallback',
  method: 'get',
  path: '/api/v1/auth/sso/oidc/callback',
  summary: 'Complete a sign-in with OpenID Connect',
  description: 'The provider redirects the browser here. The state is valid once, in the browser that began the sign-in.',
  access: 'public',
  params: {},
  query: shape<OidcCallbackQuery>({
    required: {},
    optional: {
      state: parameter('State of the sign-in.'),
      code: parameter('Authorization code.'),
      iss: parameter('Issuer that answered.'),
      error: parameter('Error code of the provider.'),
      error_description: parameter('Its description.'),
    },
  }),
  answer: { status: 200, body: sessionView },
  otherAnswers: redirected,
  errors: [
    ...(['tier_limit_exceeded', 'not_found', 'sso_state_invalid', 'oidc_request_invalid', 'oidc_sign_in_failed'] as const),
    ...(['sso_user_unknown', 'sso_user_refused', 'upstream_service_error', 'store_unavailable'] as const),
  ],
}); // prettier-ignore

export const oidcLogout = endpoint({
  id: 'sso.oidcLogout',
  method: 'get',
  path: '/api/v1/auth/sso/oidc/logout',
  summary: 'Sign out at the provider of OpenID Connect',
  description: 'Ends no session of this service: call POST /api/v1/auth/logout first.',
  access: 'public',
  params: {},
  query: shape<SignInQuery>({ required: {}, optional: { redirect: target } }),
  answer: { status: 302, headers: { Location: 'End-session endpoint of the provider, or the page to return to.' } },
  errors: ['tier_limit_exceeded', 'not_found', 'upstream_service_error'],
});

export const oidcBackchannelLogout = endpoint({
  id: 'sso.oidcBackchannelLogout',
  method: 'post',
  path: '/api/v1/auth/sso/oidc/backchannel-logout',
  summary: 'End the sessions of a user who signed out at the provider',
  description: 'Called by the provider with a signed logout token, which is accepted once.',
  access: 'public',
  audit: 'self',
  params: {},
  formBody: true,
  bodyIgnoresUnknown: true,
  bodyLimit: 'form',
  body: shape<LogoutForm>({
    required: { logout_token: Joi.string().max(16_384).description('Logout token of the provider.') },
  }),
  answer: { status: 204 },
  errors: ['tier_limit_exceeded', 'not_found', 'oidc_logout_token_invalid', 'upstream_service_error', 'store_unavailable'],
}); // prettier-ignore

export const samlMetadata = endpoint({
  id: 'sso.samlMetadata',
  method: 'get',
  path: '/api/v1/auth/sso/saml/metadata',
  summary: 'Metadata of this service as a SAML service provider',
  access: 'public',
  params: {},
  answer: { status: 200, body: text('EntityDescriptor, as XML.'), media: 'application/samlmetadata+xml' },
  errors: ['tier_limit_exceeded', 'not_found'],
});

export const samlLogin = endpoint({
  id: 'sso.samlLogin',
  method: 'get',
  path: '/api/v1/auth/sso/saml/login',
  summary: 'Begin a sign-in with SAML',
  access: 'public',
  params: {},
  query: shape<SignInQuery>({ required: {}, optional: { redirect: target } }),
  answer: { status: 302, headers: { Location: 'Sign-on service of the provider, with the request.' } },
  otherAnswers: {
    200: { description: 'Page that posts the request to the provider', body: text('HTML.'), media: 'text/html' },
  },
  errors: ['tier_limit_exceeded', 'not_found', 'saml_request_invalid', 'upstream_service_error', 'store_unavailable'],
});

export const samlAcs = endpoint({
  id: 'sso.samlAcs',
  method: 'post',
  path: '/api/v1/auth/sso/saml/acs',
  summary: 'Complete a sign-in with SAML',
  description: 'Assertion consumer service. An assertion is accepted once, in the browser that began the sign-in.',
  access: 'public',
  audit: 'self',
  params: {},
  formBody: true,
  crossSite: true,
  bodyIgnoresUnknown: true,
  bodyLimit: 'form',
  violationCodes: { SAMLResponse: 'saml_request_invalid', RelayState: 'saml_request_invalid' },
  body: shape<SamlForm>({
    required: { SAMLResponse: Joi.string().max(ssoLimits.formBytes).description('Response of the provider, as base64.') },
    optional: { RelayState: parameter('State of the sign-in.') },
  }),
  answer: { status: 200, body: sessionView },
  otherAnswers: redirected,
  errors: [
    ...(['tier_limit_exceeded', 'not_found', 'sso_state_invalid', 'saml_request_invalid', 'saml_response_invalid'] as const),
    ...(['sso_user_unknown', 'sso_user_refused', 'upstream_service_error', 'store_unavailable'] as const),
  ],
}); // prettier-ignore

export const putGroupMapping = endpoint({
  id: 'sso.putGroupMapping',
  method: 'put',
  path: '/api/v1/auth/oidc/group-role-mapping',
  summary: 'Replace the roles of the groups of the OpenID Connect provider',
  description: 'In effect on all replicas within a second, for sign-ins and bearer tokens after that.',
  access: { permission: 'config.write', roles: ['admin'] },
  owner: 'installation',
  audit: { type: 'governance.config_change', action: 'oidc.group_mapping', severity: 'HIGH' },
  params: {},
  violationCodes: {
    oidc_groups_claim: 'group_mapping_invalid',
    oidc_group_role_mapping: 'group_mapping_invalid',
  },
  body: shape<GroupMappingBody>({
    required: {
      oidc_groups_claim: trimmed().min(1).max(128).default('groups').description('Claim that lists the groups.'),
      oidc_group_role_mapping: Joi.object()
        // Roles are checked with the names: a violation must not repeat a name that is sent.
        .pattern(Joi.string().max(ssoLimits.groupChars), Joi.any())
        .max(ssoLimits.mappedGroups)
        .description('Group to role: admin, operator or viewer. Names are compared without surrounding spaces and ignoring case.'),
    },
  }),
  answer: { status: 200, body: authConfigView },
  errors: ['group_mapping_invalid', 'config_place_forbidden', 'config_version_conflict', 'oidc_provider_missing', 'store_unavailable'],
}); // prettier-ignore

export const ssoEndpoints = [
  oidcLogin,
  oidcCallback,
  oidcLogout,
  oidcBackchannelLogout,
  samlMetadata,
  samlLogin,
  samlAcs,
  putGroupMapping,
] as const;
