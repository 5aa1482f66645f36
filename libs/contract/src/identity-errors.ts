/** Errors of users, sessions, keys, roles, sign-in at providers, SCIM and tenants; part of `errorCodes`. */
export const identityErrors = {
  // requests
  auth_key_invalid: { status: 400, text: 'the API key is not valid', code: 'AUTH_KEY_INVALID' },
  rbac_request_invalid: { status: 400, text: 'the role is not valid', code: 'RBAC_REQUEST_INVALID' },
  rbac_permission_invalid: {
    status: 400,
    text: 'the permissions or parents of the role are not valid',
    code: 'RBAC_PERMISSION_INVALID',
  },
  rbac_role_undeletable: { status: 400, text: 'built-in roles cannot be deleted', code: 'RBAC_ROLE_PROTECTED' },
  auth_request_invalid: { status: 400, text: 'the request is not valid', code: 'AUTH_REQUEST_INVALID' },
  auth_password_invalid: { status: 400, text: 'the password is too weak', code: 'AUTH_PASSWORD_INVALID' },
  oidc_request_invalid: {
    status: 400,
    text: 'the response of the provider is not complete',
    code: 'AUTH_OIDC_CALLBACK_FAILED',
  },
  oidc_logout_token_invalid: {
    status: 400,
    text: 'the logout token is not valid',
    code: 'AUTH_OIDC_LOGOUT_FAILED',
  },
  saml_request_invalid: { status: 400, text: 'the form is not valid', code: 'AUTH_SAML_REQUEST_INVALID' },
  scim_invalid_filter: { status: 400, text: 'the filter is not valid' },
  scim_invalid_path: { status: 400, text: 'the path is not valid' },
  scim_invalid_syntax: { status: 400, text: 'the request body is not a valid SCIM message' },
  scim_invalid_value: { status: 400, text: 'a value is not valid' },
  scim_mutability: { status: 400, text: 'the attribute cannot be changed' },
  scim_no_target: { status: 400, text: 'the path selects nothing' },
  // credentials
  sso_state_invalid: {
    status: 401,
    text: 'the sign-in has expired, was completed before, or began in another browser',
    code: 'AUTH_SSO_STATE_INVALID',
  },
  oidc_sign_in_failed: {
    status: 401,
    text: 'the provider did not confirm the sign-in',
    code: 'AUTH_OIDC_CALLBACK_FAILED',
  },
  saml_response_invalid: {
    status: 401,
    text: 'the response of the provider is not valid',
    code: 'AUTH_SAML_RESPONSE_INVALID',
  },
  sso_user_refused: { status: 401, text: 'this user may not sign in', code: 'AUTH_SSO_USER_REFUSED' },
  auth_invalid_credentials: { status: 401, text: 'invalid credentials', code: 'AUTH_INVALID_CREDENTIALS' },
  auth_totp_required: {
    status: 401,
    text: 'a code of the second factor is required',
    code: 'AUTH_TOTP_REQUIRED',
  },
  // refusals
  grant_exceeds_caller: { status: 403, text: 'callers cannot grant more than they hold' },
  sso_user_unknown: { status: 403, text: 'no user of this name exists', code: 'AUTH_SSO_USER_UNKNOWN' },
  tenant_suspended: { status: 403, text: 'the tenant is suspended' },
  // missing
  auth_key_not_found: { status: 404, text: 'API key not found', code: 'AUTH_KEY_NOT_FOUND' },
  rbac_role_not_found: { status: 404, text: 'role not found', code: 'RBAC_ROLE_NOT_FOUND' },
  tenant_not_found: { status: 404, text: 'tenant not found' },
  auth_user_not_found: { status: 404, text: 'user not found', code: 'AUTH_USER_NOT_FOUND' },
  auth_session_not_found: { status: 404, text: 'session not found', code: 'AUTH_SESSION_NOT_FOUND' },
  scim_resource_not_found: { status: 404, text: 'the resource was not found' },
  // conflicts
  scim_uniqueness: { status: 409, text: 'the value is in use' },
  scim_conflict: { status: 409, text: 'the resource was changed by others at the same time; try again' },
  auth_user_conflict: {
    status: 409,
    text: 'the username or e-mail address is taken',
    code: 'AUTH_USER_CONFLICT',
  },
  auth_user_version_conflict: {
    status: 409,
    text: 'the user was changed by others at the same time; try again',
    code: 'AUTH_USER_VERSION_CONFLICT',
  },
  auth_users_full: { status: 409, text: 'there is no room for more users in this tenant', code: 'AUTH_USERS_FULL' },
  auth_last_admin: {
    status: 409,
    text: 'the tenant would have no administrator',
    code: 'AUTH_LAST_ADMIN',
  },
  auth_totp_conflict: {
    status: 409,
    text: 'the second factor is not in a state that permits this',
    code: 'AUTH_TOTP_CONFLICT',
  },
  rbac_role_protected: {
    status: 409,
    text: 'the parents of a built-in role cannot be changed',
    code: 'RBAC_ROLE_PROTECTED',
  },
  rbac_role_in_use: { status: 409, text: 'RBAC_ROLE_IN_USE', code: 'RBAC_ROLE_IN_USE' },
  rbac_version_conflict: { status: 409, text: 'roles were changed by others at the same time; try again' },
  tenant_exists: { status: 409, text: 'there is a tenant of this name' },
  tenant_state_conflict: { status: 409, text: 'the status of the tenant does not allow this' },
  tenant_protected: { status: 409, text: 'the default tenant of the installation stays active' },
  scim_version_mismatch: { status: 412, text: 'the resource has another version' },
  // limits
  scim_bulk_too_large: { status: 413, text: 'the request has too many operations' },
  // ours
  scim_not_configured: { status: 503, text: 'there is no SCIM token' },
  oidc_provider_missing: { status: 503, text: 'no OpenID Connect provider is configured' },
  totp_unavailable: { status: 503, text: 'there is no key to encrypt second factors with' },
} as const satisfies Record<string, { status: number; text: string; code?: string }>;
