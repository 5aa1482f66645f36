import { AppError, type Caller, type Endpoint } from '@svc/contract';
import type { GrpcCall } from '@svc/grpc';
import { findCredentialKind, type CredentialRef } from '@svc/identity';
import {
  checkNamedTenant,
  clientAddressBehind,
  guessBucket,
  authorize,
  createValidator,
  type MountOptions,
} from '@svc/http';

/** HTTP options that also apply to gRPC: both share authentication and authorization. */
export type GateOptions = Pick<
  MountOptions,
  | 'authenticate'
  | 'gate'
  | 'rateLimits'
  | 'onRefused'
  | 'onRejected'
  | 'trustedProxies'
  | 'asAppError'
  | 'followCredential'
>;

/** Reports the error code of a call, as the REST surface does for a request. */
export async function reporting<T>(endpoint: Endpoint, options: GateOptions, call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (error) {
    const { errorCode: code } =
      error instanceof AppError ? error : (options.asAppError?.(error) ?? new AppError('internal_error'));
    options.onRejected?.({ endpoint, code });
    throw error;
  }
}

type BodyOf<E> = E extends Endpoint<string, infer _Query, infer Body> ? Body : never;

/**
 * Admits a call in the order of the REST surface: credentials and tenant, rate limit, authorization, validation with the
 * schema of the endpoint. See docs/reference/http.md#grpc.
 *
 * @returns a function that admits one call
 * @throws (from the returned function) unauthorized, tenant_access_denied, rate_limited, access_denied, invalid_body, …
 */
export function admission<E extends Endpoint>(endpoint: E, options: GateOptions) {
  const validate = createValidator(endpoint);
  return async (
    call: GrpcCall,
    raw: { params?: object; body?: object },
  ): Promise<{ caller: Caller; credential: CredentialRef; body: BodyOf<E> }> => {
    const { caller, credential } = await authenticated(call, endpoint, options);
    await takeRate(options, `tenant:${caller.tenant}`);
    authorize(caller, endpoint, options.gate);
    const { body } = validate({ params: raw.params ?? {}, query: {}, body: raw.body });
    checkNamedTenant(caller, raw.body);
    return { caller, credential, body: body as BodyOf<E> }; // validated by the schema of the endpoint
  };
}

/**
 * Rechecks a long-running call: since it was admitted, its credential may have been revoked or have lost its role or
 * tenant. Does not count against the rate limit.
 *
 * @returns a function that checks one call
 * @throws (from the returned function) unauthorized, tenant_access_denied, access_denied, …
 */
export function readmission(endpoint: Endpoint, options: GateOptions) {
  return async (call: GrpcCall, admitted: Caller): Promise<void> => {
    const outcome = await options.authenticate(readCredentials(call, endpoint));
    if (outcome.kind === 'refused') throw new AppError(outcome.code, outcome.extras ?? {});
    const { caller } = outcome;
    if (caller.tenant !== admitted.tenant || caller.scope !== admitted.scope)
      throw new AppError('tenant_access_denied');
    authorize(caller, endpoint, options.gate);
  };
}

const requestFor = ({ method, path }: Endpoint) => ({ method: method.toUpperCase(), path });

const readCredentials = (call: GrpcCall, endpoint: Endpoint): Parameters<GateOptions['authenticate']>[0] => ({
  authorization: call.metadata('authorization'),
  apiKey: call.metadata('x-api-key'),
  tenant: call.metadata('x-tenant-id'),
  principalId: call.metadata('x-principal-id'),
  principalRole: call.metadata('x-principal-role'),
  request: requestFor(endpoint),
});

async function authenticated(
  call: GrpcCall,
  endpoint: Endpoint,
  options: GateOptions,
): Promise<{ caller: Caller; credential: CredentialRef }> {
  const presented = readCredentials(call, endpoint);
  const outcome = await options.authenticate(presented);
  if (outcome.kind === 'caller') return outcome;
  const peer = call.peer.replace(/:\d+$/, '');
  const ip = clientAddressBehind(options.trustedProxies ?? [])(peer, call.metadata('x-forwarded-for'));
  const credential = findCredentialKind(presented);
  options.onRefused?.({ code: outcome.code, credential, ...requestFor(endpoint), method: 'GRPC', ip, requestId: '' });
  await takeRate(options, guessBucket(ip));
  throw new AppError(outcome.code, outcome.extras ?? {});
}

async function takeRate({ rateLimits }: GateOptions, bucket: string): Promise<void> {
  const verdict = await rateLimits?.api(bucket);
  if (verdict?.allowed !== false) return;
  const retryAfter = verdict.headers['Retry-After'];
  throw new AppError('rate_limited', {}, retryAfter === undefined ? {} : { 'Retry-After': retryAfter });
}
