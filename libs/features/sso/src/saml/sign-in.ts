import { SAML, ValidateInResponseTo, type CacheProvider, type SamlConfig } from '@node-saml/node-saml';
import { AppError, type SamlForm } from '@svc/contract';
import { answer, type Answered } from '@svc/http';
import { sha256 } from '@svc/identity';
import { randomBytes } from 'node:crypto';
import { answerSignIn, SignInFailure, type SignInResponse } from '../complete-sign-in';
import { isOwnBrowser, newSecret, type PendingSignIns } from '../pending-sign-ins';
import type { PreLoginCookie } from '../pre-login-cookie';
import type { ProviderProfile } from '../profile';
import { chooseTarget } from '../redirect-target';
import { requireEntitled, type SignInDeps, type SignInRequest } from '../sso-deps';
import { toSamlProfile } from './attributes';
import { checkResponse, CLOCK_SKEW_MS, readAssertion, ResponseRefused, type ExpectedResponse } from './check-response';
import type { IdpMetadata } from './idp-metadata';
import { postForm, postFormPolicy } from './post-form';
import type { SamlProvider } from './provider';
import type { SamlSettings } from './settings';

export interface SamlDeps extends SignInDeps {
  provider: SamlProvider;
  pending: PendingSignIns;
  cookie: PreLoginCookie;
}

/** @throws tier_limit_exceeded, not_found */
export function requireSaml(deps: SignInDeps & { saml: SamlDeps | undefined }): SamlDeps {
  requireEntitled(deps, 'sso', 'saml');
  if (!deps.saml) throw new AppError('not_found');
  return deps.saml;
}

/** Metadata of this service, for the provider. */
export function buildSpMetadata({ provider: { settings } }: SamlDeps): string {
  // The certificate of the provider is not part of this document.
  const saml = new SAML({
    ...commonOptions(settings),
    idpCert: settings.certificate,
    decryptionPvk: settings.privateKey,
  });
  return saml.generateServiceProviderMetadata(settings.certificate, settings.certificate);
}

/**
 * Begins a sign-in: a signed request, bound to this browser.
 *
 * @throws upstream_service_error, saml_request_invalid when the provider has no service for the configured binding
 */
export async function beginSamlSignIn(deps: SamlDeps, wanted: string | undefined): Promise<Answered<void>> {
  const { settings } = deps.provider;
  const idp = await deps.provider.metadata();
  const entryPoint = idp.signOn[settings.binding];
  if (entryPoint === undefined) {
    throw new AppError('saml_request_invalid', { error: `the provider has no sign-on service for the binding ${settings.binding}` });
  }
  const [state, browser] = [newSecret(), newSecret()];
  // An XML id does not begin with a digit.
  const request = `_${randomBytes(20).toString('hex')}`;
  const saml = new SAML({
    ...commonOptions(settings),
    idpCert: [...idp.certificates],
    entryPoint,
    generateUniqueId: () => request,
    skipRequestCompression: settings.binding === 'post',
    authnRequestBinding: settings.binding === 'post' ? 'HTTP-POST' : 'HTTP-Redirect',
  });
  const target = chooseTarget(wanted, deps.defaultPage);
  await deps.pending.begin(state, { kind: 'saml', target, browser: sha256(browser), request });
  const cookie = deps.cookie.set(browser, Math.ceil(settings.stateTtlMs / 1_000));
  if (settings.binding === 'redirect') {
    const url = await saml.getAuthorizeUrlAsync(state, undefined, {});
    return answer(undefined, { headers: { Location: url, 'Set-Cookie': cookie } });
  }
  const fields = (await saml.getAuthorizeMessageAsync(state)) as Record<string, string>;
  const headers = { 'Content-Security-Policy': postFormPolicy(entryPoint), 'Set-Cookie': cookie };
  return answer(postForm(entryPoint, fields) as never, { status: 200, headers });
} // prettier-ignore

/**
 * Completes a sign-in. The state ends before anything else, and an assertion is accepted once.
 *
 * @throws sso_state_invalid, and the codes of `answerSignIn`
 */
export async function completeSamlSignIn(deps: SamlDeps, request: SignInRequest, form: SamlForm): Promise<SignInResponse> {
  const { settings } = deps.provider;
  const pending = await deps.pending.take(form.RelayState);
  const isOwn = pending?.kind === 'saml' && isOwnBrowser(pending, deps.cookie.read(request.cookie));
  // A state that is known must come from its browser, also where the provider may begin sign-ins.
  if (pending ? !isOwn : !settings.allowIdpInitiated) {
    const { method, path, address: ip, requestId } = request;
    deps.onRefused({ code: 'sso_state_invalid', credential: 'sso', method, path, ip, requestId });
    throw new AppError('sso_state_invalid');
  }
  const target = pending?.target ?? chooseTarget(undefined, deps.defaultPage);
  return answerSignIn(deps, request, { target, clearCookie: deps.cookie.clear() }, async () => ({
    profile: await verifyResponse(deps, form.SAMLResponse, pending?.request),
    rules: settings,
  }));
} // prettier-ignore

/** @throws SignInFailure, upstream_service_error */
async function verifyResponse(deps: SamlDeps, encoded: string, request: string | undefined): Promise<ProviderProfile> {
  const { settings } = deps.provider;
  const idp = await deps.provider.metadata();
  const nowMs = deps.clock.nowMs();
  const expected: ExpectedResponse = {
    acsUrl: settings.acsUrl,
    idpEntityId: idp.entityId,
    audience: settings.entityId,
    request,
    nowMs,
  };
  const refuse = (why: string) => new SignInFailure('saml_response_invalid', 'invalid_response', why);
  try {
    checkResponse(encoded, expected);
    const xml = await verifySignature(settings, idp, encoded, request);
    const assertion = readAssertion(xml, expected);
    const isNew = await deps.pending.useOnce(`saml\n${idp.entityId}\n${assertion.id}`, assertion.untilMs, nowMs);
    if (!isNew) throw new ResponseRefused('the assertion was used before');
    const profile = toSamlProfile(assertion, { ...settings, idpEntityId: idp.entityId, roles: deps.roles() });
    if (!profile) throw new ResponseRefused('the assertion names no valid user or tenant');
    return profile;
  } catch (error) {
    if (error instanceof ResponseRefused) throw refuse(error.message);
    throw error;
  }
}

/** The text of the assertion that the signature of the provider covers. @throws ResponseRefused */
async function verifySignature(
  settings: SamlSettings,
  idp: IdpMetadata,
  encoded: string,
  request: string | undefined,
): Promise<string> {
  const saml = new SAML({
    ...commonOptions(settings),
    idpCert: [...idp.certificates],
    decryptionPvk: settings.privateKey,
    validateInResponseTo: request === undefined ? ValidateInResponseTo.never : ValidateInResponseTo.always,
    cacheProvider: knownRequest(request),
  });
  try {
    const { profile } = await saml.validatePostResponseAsync({ SAMLResponse: encoded.replace(/[\r\n\t ]/g, '') });
    const xml = profile?.getAssertionXml?.();
    if (!xml) throw new ResponseRefused('it has no assertion');
    return xml;
  } catch (error) {
    if (error instanceof ResponseRefused) throw error;
    // The library throws errors of every kind for what it refuses, and their texts may quote the message.
    throw new ResponseRefused('its signature, encryption or conditions are not valid');
  }
}

const commonOptions = (settings: SamlSettings): Omit<SamlConfig, 'idpCert'> => ({
  issuer: settings.entityId,
  audience: settings.entityId,
  callbackUrl: settings.acsUrl,
  privateKey: settings.privateKey,
  signatureAlgorithm: 'sha256',
  digestAlgorithm: 'sha256',
  identifierFormat: null,
  disableRequestedAuthnContext: true,
  wantAssertionsSigned: true,
  wantAuthnResponseSigned: false,
  acceptedClockSkewMs: CLOCK_SKEW_MS,
});

/** The requests that the library knows: the one of this sign-in, which Redis keeps. */
function knownRequest(request: string | undefined): CacheProvider {
  return {
    saveAsync: async (_id, value) => ({ value, createdAt: Date.parse(value) }),
    getAsync: async (id) => (id === request ? new Date().toISOString() : null),
    removeAsync: async () => null,
  };
}
