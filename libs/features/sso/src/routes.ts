import * as contract from '@svc/contract';
import { answer, handlersFor, type Call } from '@svc/http';
import { endSessionsAtLogout, redirectToLogout } from './oidc/logout';
import { beginOidcSignIn, completeOidcSignIn, requireOidc, type OidcDeps } from './oidc/sign-in';
import { writeGroups, type GroupWriteDeps } from './oidc/write-groups';
import { beginSamlSignIn, buildSpMetadata, completeSamlSignIn, requireSaml, type SamlDeps } from './saml/sign-in';
import type { SignInDeps, SignInRequest } from './sso-deps';

/** Dependencies of these handlers. */
export interface SsoContext {
  sso: SignInDeps & {
    /** Absent when no provider is configured, as `saml`. */
    oidc: OidcDeps | undefined;
    saml: SamlDeps | undefined;
    groups: GroupWriteDeps;
    /** As GET /api/v1/auth/config. */
    readAuthConfig(): Promise<contract.AuthConfigView>;
  };
}

const handle = handlersFor<SsoContext>();

type RequestParts = Pick<Call<contract.Endpoint, SsoContext>, 'ip' | 'requestId' | 'header' | 'isSecure'>;

const toRequest = (
  { method, path }: Pick<contract.Endpoint, 'method' | 'path'>,
  { ip, requestId, header, isSecure }: RequestParts,
): SignInRequest => ({
  address: ip,
  requestId,
  cookie: header('cookie'),
  isSecure,
  method: method.toUpperCase(),
  path,
});

/** Sign-in at identity providers. See docs/reference/sso.md. */
export const ssoRoutes = [
  handle(contract.oidcLogin, async ({ query, ctx }) => beginOidcSignIn(requireOidc(ctx.sso), query.redirect)),
  handle(contract.oidcCallback, async ({ query, ctx, ...call }) =>
    completeOidcSignIn(requireOidc(ctx.sso), toRequest(contract.oidcCallback, call), query),
  ),
  handle(contract.oidcLogout, async ({ query, ctx }) => redirectToLogout(requireOidc(ctx.sso), query.redirect)),
  handle(contract.oidcBackchannelLogout, async ({ body, requestId, ctx }) =>
    endSessionsAtLogout(requireOidc(ctx.sso), body.logout_token, requestId),
  ),
  handle(contract.samlMetadata, async ({ ctx }) => answer(buildSpMetadata(requireSaml(ctx.sso)), {})),
  handle(contract.samlLogin, async ({ query, ctx }) => beginSamlSignIn(requireSaml(ctx.sso), query.redirect)),
  handle(contract.samlAcs, async ({ body, ctx, ...call }) =>
    completeSamlSignIn(requireSaml(ctx.sso), toRequest(contract.samlAcs, call), body),
  ),
  handle(contract.putGroupMapping, async ({ body, caller, ctx }) => {
    await writeGroups(ctx.sso.groups, caller, body, ctx.sso.oidc !== undefined);
    return ctx.sso.readAuthConfig();
  }),
];
