import { AppError, type DataPurpose, type Endpoint } from '@svc/contract';
import { findCredentialKind, type AuthOutcome } from '@svc/identity';
import { withTimeout } from '@svc/runtime';
import Joi from 'joi';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { parseBody, readBody } from './body';
import type { OriginCheck } from './cors';
import { ByteStream, sendStream } from './byte-stream';
import { EventStream, sendEvents } from './event-stream';
import { sendBytes, sendJson, sendJsonText } from './exchange';
import { toAct } from './audit-act';
import { isForged } from './forgery';
import { mayUse } from './gate';
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
  const limitBytes = options.bodyLimits[endpoint.bodyLimit ?? 'json'];
  const { access } = endpoint;

  return async (incoming, params) => {
    const { req, res, exchange, ip } = incoming;
    exchange.endpoint = endpoint;
    const known =
      access === 'public'
        ? await knownCaller(incoming, endpoint, options, allows)
        : await authenticated(incoming, endpoint, options, allows);
    const caller = known?.caller;
    const { signedUrl } = endpoint;
    const tenant = signedUrl ? await signedTenant(incoming, params, endpoint, signedUrl, options) : caller?.tenant;
    if (tenant !== undefined) exchange.tenant = tenant;
    const limits = endpoint.unlimited ? undefined : options.rateLimits;
    if (limits && tenant !== undefined) await takeRate(res, limits.api, `tenant:${tenant}`);
    else if (limits) await takeRate(res, limits.open, publicBucket(ip));
    const bytes = hasBody(req) ? await readBody(req, limitBytes, endpoint.tooLarge) : noBytes;
    const missing = options.missingDependency?.(endpoint);
    if (missing) throw new AppError(missing);
    if (access !== 'public' && !(caller && mayUse(caller, access, options.gate))) throw new AppError('access_denied');

    if (endpoint.rawBody) requirePlainEncoding(req);
    const raw = { params, query: getQuery(incoming), body: endpoint.rawBody ? undefined : parseBody(bytes, req) };
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
  { access }: Pick<Endpoint, 'access'>,
  admitted: Known['caller'],
  { authenticate, gate }: Pick<MountOptions, 'authenticate' | 'gate'>,
): Promise<boolean> {
  const outcome = await authenticate(presented);
  if (outcome.kind === 'refused') return false;
  const { caller } = outcome;
  // The events of a stream were chosen by the role.
  const isSame = caller.tenant === admitted.tenant && caller.scope === admitted.scope && caller.role === admitted.role;
  if (!isSame) return false;
  return access === 'public' || mayUse(caller, access, gate);
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
  const outcome = await options.authenticate(getCredentials(req, endpoint)).catch(() => undefined);
  if (outcome?.kind !== 'caller' || (outcome.byCookie && isForged(req, allows))) return undefined;
  return outcome;
}

/**
 * The tenant of a data URL. Its token is a credential: rejections are rate-limited by address and reported.
 *
 * @throws data_url_invalid, data_url_expired, data_url_forbidden, rate_limited
 */
async function signedTenant(
  incoming: Incoming,
  params: Readonly<Record<string, string>>,
  { path }: Endpoint,
  purpose: DataPurpose,
  options: MountOptions,
): Promise<string> {
  const { req, res, ip, exchange } = incoming;
  try {
    if (!options.openSignedUrl) throw new AppError('data_url_invalid');
    return options.openSignedUrl(purpose, params, getQuery(incoming)).tenant;
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    const { method = '' } = req;
    // The declared path, because the sent one is untrusted text.
    options.onRefused?.({
      code: error.errorCode,
      credential: 'signed_url',
      method,
      path,
      ip,
      requestId: exchange.requestId,
    });
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

/** @throws unauthorized, tenant_access_denied, tenant_id_required, key_scope_insufficient, origin_not_allowed, rate_limited */
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
  { id, answer, otherAnswers }: Endpoint,
  result: unknown,
  checkAnswers: boolean,
): void {
  const { body, options } = result instanceof Answered ? result : { body: result, options: {} };
  const status = options.status ?? answer.status;
  const declared = status === answer.status ? answer : otherAnswers?.[status];
  if (!declared) throw new Error(`${id} answers ${status}, which it does not declare`);
  const schema = declared.body ?? (status === answer.status ? undefined : answer.body);
  if (checkAnswers && schema) {
    const value = body instanceof JsonText ? (body.decode() as unknown) : body;
    Joi.assert(value, schema, `${id} answers what it does not declare:`);
  }
  for (const [name, value] of Object.entries(options.headers ?? {})) res.setHeader(name, value);
  if (answer.raw && status === answer.status) sendBytes(res, status, body as Uint8Array);
  else if (body instanceof JsonText) sendJsonText(res, status, body.text);
  else sendJson(res, status, status === 204 ? undefined : body);
}
