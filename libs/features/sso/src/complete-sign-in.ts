import { AppError, type ErrorCode, type SessionView } from '@svc/contract';
import { answer, type Answered } from '@svc/http';
import { sessionCookie, sessionCookies } from '@svc/identity';
import { buildSignInAct, toAuthUser } from '@svc/users';
import type { ProviderProfile } from './profile';
import { provisionUser, type ProvisionRules } from './provision-user';
import { withFragment, type RedirectTarget } from './redirect-target';
import type { SignInDeps, SignInRequest } from './sso-deps';

/** A failed sign-in: its code for JSON, and for the fragment of the page. */
export class SignInFailure extends Error {
  constructor(
    readonly code: ErrorCode,
    /** Value of `error` in the fragment; also those that the provider sent. */
    readonly error: string,
    readonly description: string,
  ) {
    super(description);
  }
}

interface SignInAnswer {
  target: RedirectTarget;
  /** Set-Cookie header that removes the pre-login cookie. */
  clearCookie: string;
}

/** A response of a route that completes a sign-in. */
export type SignInResponse = Answered<SessionView>;

/**
 * Runs the part of a sign-in that follows its state, and answers with a redirect or JSON. Failures are returned to the page
 * that began the sign-in.
 *
 * @throws the code of the failure, when the sign-in asked for JSON
 */
export async function answerSignIn(
  deps: SignInDeps,
  request: SignInRequest,
  { target, clearCookie }: SignInAnswer,
  run: () => Promise<{ profile: ProviderProfile; rules: ProvisionRules; onSignedIn?(session: { id: string; userId: string }): Promise<void> }>,
): Promise<SignInResponse> {
  try {
    const { profile, rules, onSignedIn } = await run();
    const { user, token, expiresAtMs, id } = await signIn(deps, request, profile, rules);
    await onSignedIn?.({ id, userId: user.id });
    const headers = { 'Set-Cookie': [sessionCookie({ token, expiresAtMs }, deps.secureCookies || request.isSecure), clearCookie] };
    const expiresAt = new Date(expiresAtMs).toISOString();
    if (target.kind === 'json') return answer({ token, expires_at: expiresAt, user: toAuthUser(user) }, { headers });
    const fragment = {
      token: deps.fragmentToken ? token : '',
      ...{ expires_at: expiresAt, user_id: user.id, username: user.username, email: user.email },
      ...{ display_name: user.display_name, role: user.role, tenant: user.tenant, source: profile.source },
    };
    return redirect(withFragment(target.url, fragment), headers);
  } catch (error) {
    if (!(error instanceof SignInFailure)) throw error;
    const { method, path, address: ip, requestId } = request;
    deps.onRefused({ code: error.code, credential: 'sso', method, path, ip, requestId });
    deps.log.warn('sign-in at a provider failed', { error: error.error, reason: error.description, request_id: requestId });
    const headers = { 'Set-Cookie': clearCookie };
    if (target.kind === 'json') throw new AppError(error.code, { reason: error.error }, headers);
    return redirect(withFragment(target.url, { error: error.error, error_description: error.description }), headers);
  }
} // prettier-ignore

async function signIn(deps: SignInDeps, request: SignInRequest, profile: ProviderProfile, rules: ProvisionRules) {
  // Before a user is created, who would be left over from the deletion of the tenant.
  if (deps.isTenantStopped(profile.tenant)) throw refusals.stopped;
  const outcome = await provisionUser(deps, profile, rules, request);
  if (outcome.kind !== 'user') throw refusals[outcome.kind];
  const { user, generation } = outcome;
  const { address: ip, requestId, path } = request;
  const act = buildSignInAct(user, profile.source, { ip, requestId, path });
  const session = await deps.audited(user.tenant, act, async () => {
    // The previous session of the browser may have been planted.
    for (const token of sessionCookies(request.cookie)) await deps.sessions.end(token);
    return deps.sessions.create({
      kind: 'user',
      userId: user.id,
      generation,
      tenant: user.tenant,
      method: profile.source,
      address: request.address,
    });
  });
  return { user, ...session };
}

const failed = (code: ErrorCode, description: string) =>
  new SignInFailure(code, 'identity_resolution_failed', description);

const refusals = {
  unknown: failed('sso_user_unknown', 'no user of this name exists'),
  disabled: failed('sso_user_refused', 'this user may not sign in'),
  stopped: failed('sso_user_refused', 'the tenant of this user is suspended'),
  conflict: failed('sso_user_refused', 'the user name or address belongs to another user'),
};

const redirect = (location: string, headers: Record<string, string | readonly string[]>): SignInResponse =>
  answer(undefined as never, { status: 302, headers: { ...headers, Location: location } });
