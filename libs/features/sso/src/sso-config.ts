import type { Providers } from './open-sso';
import type { AuthConfigView } from '@svc/contract';
import type { License } from '@svc/identity';

const routes = '/api/v1/auth/sso';

/** Describes the providers. Texts of a provider that is not configured, or not entitled, are empty. */
export async function describeProviders({ oidc, saml }: Providers, license: Pick<License, 'entitlements'>): Promise<Partial<AuthConfigView>> {
  const entitlements = license.entitlements();
  const usable = entitlements.sso ? oidc : undefined;
  const settings = usable?.provider.settings;
  const canSignIn = Boolean(settings?.clientId && settings.redirectUri);
  const hasSaml = saml !== undefined && entitlements.sso && entitlements.saml;
  const groups = await usable?.groups.current();
  return {
    saml_enabled: hasSaml,
    saml_enterprise: true,
    saml_login_url: hasSaml ? `${routes}/saml/login` : '',
    saml_metadata_url: hasSaml ? `${routes}/saml/metadata` : '',
    oidc_enabled: settings !== undefined,
    oidc_issuer: settings?.issuer ?? '',
    oidc_login_url: canSignIn ? `${routes}/oidc/login` : '',
    oidc_client_id: settings?.clientId ?? '',
    oidc_redirect_uri: settings?.redirectUri ?? '',
    oidc_client_secret_masked: maskSecret(settings?.clientSecret ?? ''),
    oidc_scopes: [...(settings?.scopes ?? [])],
    ...(groups && { oidc_groups_claim: groups.claim }),
    ...(groups && groups.mapping.size > 0 && { oidc_group_role_mapping: Object.fromEntries(groups.mapping) }),
  };
} // prettier-ignore

/** Up to 4 characters are all masked; up to 8 keep the first 2; longer secrets keep 4 at each end. */
function maskSecret(secret: string): string {
  const [start, end] = secret.length <= 4 ? [0, 0] : secret.length <= 8 ? [2, 0] : [4, 4];
  return secret.slice(0, start) + '*'.repeat(secret.length - start - end) + (end > 0 ? secret.slice(-end) : '');
}
