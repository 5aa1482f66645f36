import type { AuthConfigView } from '@svc/contract';
import type { UserDeps } from './user-deps';

/** Ways to sign in, for clients that are not signed in yet. */
export async function getAuthConfig({ settings, sealed, rbac, takesApiKeys, sso }: UserDeps): Promise<AuthConfigView> {
  const { isEnabled, defaultTenant, sessionTtlMs } = settings;
  return {
    password_enabled: isEnabled || takesApiKeys(),
    user_auth_enabled: isEnabled,
    saml_enabled: false,
    saml_enterprise: true,
    require_rbac: rbac(),
    require_principal: false,
    oidc_enabled: false,
    saml_login_url: '',
    saml_metadata_url: '',
    oidc_issuer: '',
    oidc_login_url: '',
    oidc_client_id: '',
    oidc_redirect_uri: '',
    oidc_client_secret_masked: '',
    default_tenant: defaultTenant,
    session_ttl: formatDuration(sessionTtlMs),
    oidc_scopes: [],
    totp_available: isEnabled && sealed !== undefined,
    ...(await sso()),
  };
}

const units = [
  ['h', 3_600],
  ['m', 60],
  ['s', 1],
] as const;

/** Such as `24h` or `1h30m`. */
export function formatDuration(ms: number): string {
  let left = Math.floor(ms / 1_000);
  const parts = units.map(([unit, sec]) => {
    const count = Math.floor(left / sec);
    left -= count * sec;
    return count > 0 ? `${count}${unit}` : '';
  });
  return parts.join('') || '0s';
}
