import { AppError, findWireForm, type Endpoint } from '@svc/contract';
import { findCredentialKind, type AuthOutcome, type CredentialKind } from '@svc/identity';
import { withTimeout } from '@svc/runtime';
import Joi from 'joi';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { configuredLimit, licensedLimit, parseBody, parseForm, readBody } from './body';
import type { OriginCheck } from './cors';
import { ByteStream, sendStream } from './byte-stream';
import { EventStream, sendEvents } from './event-stream';
import { sendBytes, sendJson, sendJsonText, sendText } from './exchange';
import { toAct } from './audit-act';
import { isForeignPage, isForged } from './forgery';
import { authorize, mayCall } from './gate';
import { Answered, JsonText, type Route } from './handler';
import { getHeader, getQuery, type Incoming } from './incoming';
import type { MountOptions } from './options';
import { guessBucket, publicBucket, takeRate } from './take-rate';
import { checkNamedTenant, createValidator } from './validation';

type Known = Extract<AuthOutcome, { kind: 'caller' }>;

/** Serves one request of a route; `params` are those of its path. */
export type Serve = (incoming: Incoming, params: Readonly<Record<string, string>>) => Promise<void>;

/**
 * Serves a route, in this order: credentials, key scope and tenant header (all
 * three by `authenticate`), rate limit, body size, missing dependency, authorization, validation, handler. Schemas are
 * compiled once.
 */
export function serveEndpoint<Ctx>(route: Route<Ctx>, ctx: Ctx, options: MountOptions, allows: OriginCheck): Serve {
  const { endpoint } = route;
  const validate = createValidator(endpoint);
  const { bodyLimit = 'json' } = endpoint;
  const configured = configuredLimit(options.bodyLimits[bodyLimit], endpoint.tooLarge);
  // Artifacts and results have a limit of their own in the license.
  const isLicensed = bodyLimit !== 'artifact' && bodyLimit !== 'data';
  const getLimit = () => (isLicensed ? licensedLimit(configured, options.licensedBodyBytes?.() ?? 0) : configured);
  const { access } = endpoint;

  return async (incoming, params) => {
    const { req, res, exchange, ip } = incoming;
    exchange.endpoint = endpoint;
    if (endpoint.signsIn && isForeignPage(req, allows)) throw new AppError('origin_not_allowed');
    const known =
      access === 'public'
        ? await knownCaller(incoming, endpoint, options, allows)
        : await authenticated(incoming, endpoint, options, allows);
    const caller = known?.caller;
    const tenant = caller?.tenant ?? (await ownTenant(incoming, params, endpoint, options));
    if (tenant !== undefined) exchange.tenant = tenant;
    const limits = endpoint.unlimited ? undefined : options.rateLimits;
    if (limits && tenant !== undefined) await takeRate(res, limits.api, `tenant:${tenant}`);
    else if (limits) await takeRate(res, limits.open, publicBucket(ip));
    const bytes = hasBody(req) ? await readBody(req, getLimit()) : noBytes;
    const missing = options.missingDependency?.(endpoint);
    if (missing) throw new AppError(missing);
    if (access !== 'public') {
      if (!caller) throw new AppError('access_denied');
      authorize(caller, endpoint, options.gate);
    }

    if (endpoint.rawBody) requirePlainEncoding(req);
    const raw = { params, query: getQuery(incoming), body: parseSent(endpoint, bytes, req) };
    const checked = validate(raw);
    if (caller) checkNamedTenant(caller, raw.query, raw.body);
    const call = {
      ...checked,
      bytes: endpoint.rawBody ? bytes : noBytes,
      caller,
      ctx,
      header: (name: string) => getHeader(req, name),
      requestId: exchange.requestId,
      ip,
      isSecure: incoming.isSecure,
    };
    const run = () => route.run(call as Parameters<typeof route.run>[0]);
    const act = caller && toAct(endpoint, caller, { ...checked, requestId: exchange.requestId });
    const work = act && options.audited ? options.audited(caller.tenant, act, run) : run();
    const result = await inTime(work, options.handlerTimeoutMs).catch((error: unknown) => {
      // A stream that is opened after the timeout is not sent.
      work.then(
        (late) => late instanceof EventStream && late.close(),
        () => undefined,
      );
      throw error;
    });
    if (result instanceof ByteStream) return sendStream(res, result, options.stopping);
    if (!(result instanceof EventStream)) return send(res, endpoint, result, options.checkAnswers);
    await sendEvents(res, result, {
      keepAliveMs: KEEP_ALIVE_MS,
      recheckMs: options.streamRecheckMs ?? RECHECK_MS,
      recheck: async () => !caller || (await isStillAllowed(getCredentials(req, endpoint), endpoint, caller, options)),
      ...(known && { followCredential: (check) => followCredential(options, known, check) }),
      stopping: options.stopping,
    });
  };
}

/** @throws invalid_json, unsupported_media_type */
function parseSent({ rawBody, formBody }: Endpoint, bytes: Buffer, req: IncomingMessage): unknown {
  if (rawBody) return undefined;
  return formBody ? parseForm(bytes, req) : parseBody(bytes, req);
}

const KEEP_ALIVE_MS = 15_000;
const RECHECK_MS = 120_000;

/**
 * Whether the credential of an open stream is still valid, for the same tenant and with the permission. Does not count against
 * the rate limit.
 *
 * @throws Error when it cannot be checked, such as without Redis
 */
export async function isStillAllowed(
  presented: Parameters<MountOptions['authenticate']>[0],
  endpoint: Pick<Endpoint, 'method' | 'path' | 'access'>,
  admitted: Known['caller'],
  { authenticate, gate }: Pick<MountOptions, 'authenticate' | 'gate'>,
): Promise<boolean> {
  const outcome = await authenticate(presented);
  if (outcome.kind === 'refused') return false;
  const { caller } = outcome;
  // The events of a stream were chosen by the role.
  const isSame = caller.tenant === admitted.tenant && caller.scope === admitted.scope && caller.role === admitted.role;
  if (!isSame) return false;
  return mayCall(caller, endpoint, gate);
}

/** See `MountOptions.followCredential`. */
export const followCredential = (
  options: Pick<MountOptions, 'followCredential'>,
  { credential }: Pick<Known, 'credential'>,
  check: () => void,
): (() => void) => options.followCredential?.(credential, check) ?? (() => undefined);

/** The caller of a public route, if authenticated. An unavailable Redis must not fail a probe. */
async function knownCaller(
  { req }: Incoming,
  endpoint: Endpoint,
  options: MountOptions,
  allows: OriginCheck,
): Promise<Known | undefined> {
  if (!endpoint.knowsCallers) return undefined;
  try {
    const outcome = await options.authenticate(getCredentials(req, endpoint));
    return outcome.kind === 'caller' && !(outcome.byCookie && isForged(req, allows)) ? outcome : undefined;
  } catch {
    return undefined;
  }
}

/**
 * The tenant of a data URL, or of a credential that is checked by its feature. Rejections are rate-limited by address and
 * reported.
 *
 * @returns undefined for routes without such a credential
 * @throws data_url_invalid, data_url_expired, data_url_forbidden, rate_limited, and what `openOwnCredential` throws
 */
async function ownTenant(
  incoming: Incoming,
  params: Readonly<Record<string, string>>,
  { path, signedUrl, ownCredential }: Endpoint,
  options: MountOptions,
): Promise<string | undefined> {
  const { req, res, ip, exchange } = incoming;
  const credential: CredentialKind | undefined = signedUrl ? 'signed_url' : ownCredential;
  if (!credential) return undefined;
  try {
    if (signedUrl) {
      if (!options.openSignedUrl) throw new AppError('data_url_invalid');
      return options.openSignedUrl(signedUrl, params, getQuery(incoming)).tenant;
    }
    if (!ownCredential || !options.openOwnCredential) throw new AppError('unauthorized');
    return (await options.openOwnCredential(ownCredential, (name) => getHeader(req, name))).tenant;
  } catch (error) {
    const isRefusal = error instanceof AppError && (signedUrl !== undefined || error.errorCode === 'unauthorized');
    if (!isRefusal) throw error;
    const { method = '' } = req;
    const isPresented = signedUrl !== undefined || req.headers.authorization !== undefined;
    // The declared path, because the sent one is untrusted text.
    const refused = { code: error.errorCode, credential: isPresented ? credential : ('none' as const) };
    options.onRefused?.({ ...refused, method, path, ip, requestId: exchange.requestId });
    if (options.rateLimits) await takeRate(res, options.rateLimits.api, guessBucket(ip));
    throw error;
  }
}

/** @throws unsupported_media_type */
function requirePlainEncoding({ headers }: IncomingMessage): void {
  if ((headers['content-encoding'] ?? 'identity') === 'identity') return;
  throw new AppError('unsupported_media_type', { error: 'send the body uncompressed' });
}

const noBytes = Buffer.alloc(0);

const hasBody = ({ headers }: IncomingMessage): boolean =>
  headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;

/** @throws unauthorized, tenant_access_denied, tenant_id_required, tenant_suspended, key_scope_insufficient, origin_not_allowed, rate_limited */
async function authenticated(
  { req, res, ip, exchange }: Incoming,
  endpoint: Endpoint,
  options: MountOptions,
  allows: OriginCheck,
): Promise<Known> {
  const presented = getCredentials(req, endpoint);
  const known = await options.authenticate(presented);
  const isUnproven = known.kind === 'caller' && known.byCookie && isForged(req, allows);
  const outcome = isUnproven ? ({ kind: 'refused', code: 'origin_not_allowed' } as const) : known;
  if (outcome.kind === 'caller') return outcome;
  const { method = '' } = req;
  const credential = findCredentialKind(presented);
  // The declared path, because the sent one is untrusted text.
  options.onRefused?.({
    code: outcome.code,
    credential,
    method,
    path: endpoint.path,
    ip,
    requestId: exchange.requestId,
  });
  if (options.rateLimits) await takeRate(res, options.rateLimits.api, guessBucket(ip));
  throw new AppError(outcome.code, 'extras' in outcome ? outcome.extras : {});
}

/** The credentials of a request for a declared route or page. */
export const getCredentials = (
  req: IncomingMessage,
  { method, path }: Pick<Endpoint, 'method' | 'path'>,
): Parameters<MountOptions['authenticate']>[0] => ({
  authorization: req.headers.authorization,
  apiKey: getHeader(req, 'x-api-key'),
  cookie: req.headers.cookie,
  tenant: getHeader(req, 'x-tenant-id'),
  principalId: getHeader(req, 'x-principal-id'),
  principalRole: getHeader(req, 'x-principal-role'),
  request: { method: method.toUpperCase(), path },
});

/** The handler cannot be stopped and continues after the timeout; its result is ignored. */
const inTime = <T>(work: Promise<T>, timeoutMs: number): Promise<T> =>
  withTimeout(work, timeoutMs, () => new AppError('service_unavailable'));

function send(
  res: ServerResponse,
  { id, path, answer, otherAnswers }: Endpoint,
  result: unknown,
  checkAnswers: boolean,
): void {
  const { body, options } = result instanceof Answered ? result : { body: result, options: {} };
  const status = options.status ?? answer.status;
  const declared = status === answer.status ? answer : otherAnswers?.[status];
  if (!declared) throw new Error(`${id} answers ${status}, which it does not declare`);
  const schema = declared.body ?? (status === answer.status || status === 302 ? undefined : answer.body);
  const isEmpty = status === 204 || status === 304;
  const mediaType = findWireForm(path)?.mediaType;
  if (checkAnswers && schema && !isEmpty) {
    const value = body instanceof JsonText ? (body.decode() as unknown) : body;
    Joi.assert(value, schema, `${id} answers what it does not declare:`);
  }
  for (const [name, value] of Object.entries(options.headers ?? {})) res.setHeader(name, value);
  if (answer.raw && status === answer.status) sendBytes(res, status, body as Uint8Array);
  else if (declared.media) sendText(res, status, declared.media, body as string);
  else if (body instanceof JsonText) sendJsonText(res, status, body.text, mediaType);
  else sendJson(res, status, isEmpty ? undefined : body, mediaType);
}
