import { AppError, type OidcCallbackQuery } from '@svc/contract';
import { answer } from '@svc/http';
import { sha256 } from '@svc/identity';
import { keys } from '@svc/store';
import type { Redis } from 'ioredis';
import * as oidc from 'openid-client';
import { answerSignIn, SignInFailure, type SignInResponse } from '../complete-sign-in';
import { isOwnBrowser, newSecret, type PendingSignIn, type PendingSignIns } from '../pending-sign-ins';
import type { PreLoginCookie } from '../pre-login-cookie';
import { chooseTarget } from '../redirect-target';
import { requireEntitled, type SignInDeps, type SignInRequest } from '../sso-deps';
import { listLogoutNames, toProfile, type Claims } from './claims';
import type { LiveGroups } from './live-groups';
import type { OidcProvider } from './provider';

export interface OidcDeps extends SignInDeps {
  redis: Redis;
  provider: OidcProvider;
  groups: LiveGroups;
  pending: PendingSignIns;
  cookie: PreLoginCookie;
  /** Lifetime of a session, seconds. */
  sessionTtlSec: number;
}

/** @throws tier_limit_exceeded, not_found */
export function requireOidc(deps: SignInDeps & { oidc: OidcDeps | undefined }): OidcDeps {
  requireEntitled(deps, 'sso');
  const { oidc: found } = deps;
  if (!found?.provider.settings.clientId || !found.provider.settings.redirectUri) throw new AppError('not_found');
  return found;
}

/**
 * Begins a sign-in: an authorization code with PKCE, bound to this browser.
 *
 * @throws upstream_service_error
 */
export async function beginOidcSignIn(deps: OidcDeps, wanted: string | undefined) {
  const { settings } = deps.provider;
  const config = await deps.provider.config();
  const [state, nonce, browser] = [newSecret(), newSecret(), newSecret()];
  const verifier = oidc.randomPKCECodeVerifier();
  const target = chooseTarget(wanted, deps.defaultPage);
  await deps.pending.begin(state, { kind: 'oidc', target, browser: sha256(browser), nonce, verifier });
  const url = oidc.buildAuthorizationUrl(config, {
    redirect_uri: settings.redirectUri,
    scope: settings.scopes.join(' '),
    state,
    nonce,
    code_challenge: await oidc.calculatePKCECodeChallenge(verifier),
    code_challenge_method: 'S256',
  });
  const cookie = deps.cookie.set(browser, Math.ceil(settings.stateTtlMs / 1_000));
  return answer(undefined, { headers: { Location: url.href, 'Set-Cookie': cookie } });
}

/**
 * Completes a sign-in. The state ends before anything else, so that no answer of the provider is used twice.
 *
 * @throws sso_state_invalid, and the codes of `answerSignIn`
 */
export async function completeOidcSignIn(
  deps: OidcDeps,
  request: SignInRequest,
  query: OidcCallbackQuery,
): Promise<SignInResponse> {
  const pending = await deps.pending.take(query.state);
  if (pending?.kind !== 'oidc' || !isOwnBrowser(pending, deps.cookie.read(request.cookie))) {
    const { method, path, address: ip, requestId } = request;
    deps.onRefused({ code: 'sso_state_invalid', credential: 'sso', method, path, ip, requestId });
    throw new AppError('sso_state_invalid');
  }
  return answerSignIn(deps, request, { target: pending.target, clearCookie: deps.cookie.clear() }, async () => {
    const claims = await exchangeCode(deps, query, pending);
    const { settings } = deps.provider;
    const profile = toProfile(claims, { ...settings, groups: await deps.groups.current(), roles: deps.roles() });
    if (!profile) throw new SignInFailure('oidc_sign_in_failed', 'identity_resolution_failed', 'the claims name no valid user or tenant'); // prettier-ignore
    return {
      profile,
      rules: settings,
      onSignedIn: ({ userId }) => keepProviderSession(deps, claims, userId),
    };
  });
}

/** For back-channel logouts, which name a session or a subject, and no tenant. */
async function keepProviderSession(deps: OidcDeps, claims: Claims, userId: string): Promise<void> {
  const { redis, provider, sessionTtlSec } = deps;
  const names = listLogoutNames(provider.settings.issuer, claims);
  await Promise.all(names.map((name) => redis.set(keys.providerSession(name), userId, 'EX', sessionTtlSec)));
}

const failure = (error: string, description: string) => new SignInFailure('oidc_sign_in_failed', error, description);
const MAX_ERROR_CHARS = 200;

/** The verified claims of the id token, with those that only userinfo has. @throws SignInFailure */
async function exchangeCode(deps: OidcDeps, query: OidcCallbackQuery, pending: PendingSignIn): Promise<Claims> {
  const { provider } = deps;
  const { settings } = provider;
  if (query.error) {
    // Printable ASCII only, as the standard has it.
    const clean = (text: string) => text.replace(/[^\x20-\x7e]/g, '').slice(0, MAX_ERROR_CHARS);
    throw failure(clean(query.error) || 'invalid_request', clean(query.error_description ?? '') || 'the provider refused the sign-in'); // prettier-ignore
  }
  if (!query.code) throw new SignInFailure('oidc_request_invalid', 'invalid_request', 'the provider sent no code');
  const url = new URL(settings.redirectUri);
  for (const [name, value] of Object.entries(query)) if (typeof value === 'string') url.searchParams.set(name, value);
  const config = await provider.config();
  const tokens = await oidc
    .authorizationCodeGrant(config, url, {
      expectedState: query.state ?? '',
      expectedNonce: pending.nonce ?? '',
      pkceCodeVerifier: pending.verifier ?? '',
      idTokenExpected: true,
    })
    .catch((error: unknown) => {
      throw explain(error);
    });
  // The library relies on TLS to the token endpoint. The signature is verified as well.
  const verified = await provider.verify(tokens.id_token ?? '', settings.clientId, ['sub', 'iat']);
  const claims = tokens.claims();
  if (!verified || !claims || verified.claims.sub !== claims.sub) throw failure('invalid_id_token', 'the id token is not valid'); // prettier-ignore
  const hasUserInfo = config.serverMetadata().userinfo_endpoint !== undefined;
  const more = hasUserInfo ? await readUserInfo(deps, config, tokens.access_token, claims.sub) : {};
  return { ...more, ...verified.claims };
}

async function readUserInfo(
  deps: OidcDeps,
  config: oidc.Configuration,
  accessToken: string,
  subject: string,
): Promise<Claims> {
  return oidc.fetchUserInfo(config, accessToken, subject).catch((error: unknown) => {
    deps.log.warn('userinfo of the identity provider not read', { error });
    throw failure('identity_resolution_failed', 'the provider sent no userinfo');
  });
}

/** The failure of an exchange, without what the provider sent. */
function explain(error: unknown): SignInFailure {
  if (error instanceof oidc.AuthorizationResponseError) return failure(error.error, 'the provider refused the sign-in');
  if (error instanceof oidc.ResponseBodyError) return failure('token_exchange_failed', 'the provider refused the code');
  const text = getMessages(error);
  const found = explanations.find(([pattern]) => pattern.test(text));
  return failure(found?.[1] ?? 'token_exchange_failed', found?.[2] ?? 'the code could not be exchanged');
}

/** By the messages of the library, whose codes do not distinguish these. */
const explanations: readonly (readonly [pattern: RegExp, error: string, description: string])[] = [
  [/response parameter "iss"|"iss" \(issuer\) response/, 'invalid_request', 'the response is of another issuer'],
  [/"id_token" property/, 'missing_id_token', 'the provider sent no id token'],
  [/nonce/, 'invalid_nonce', 'the id token is not for this sign-in'],
  [/JWT|JWS|ID Token/, 'invalid_id_token', 'the id token is not valid'],
];

/** Messages of an error and of its causes. */
function getMessages(error: unknown): string {
  const messages: string[] = [];
  for (let at = error; at instanceof Error && messages.length < 5; at = at.cause) messages.push(at.message);
  return messages.join('\n');
}
