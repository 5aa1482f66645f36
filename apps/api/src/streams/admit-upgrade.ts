import { AppError, type Caller, type Endpoint } from '@svc/contract';
import {
  checkNamedTenant,
  createValidator,
  followCredential,
  getCredentials,
  getQuery,
  guessBucket,
  isStillAllowed,
  authorize,
  originCheck,
  requireHost,
  type Incoming,
  type MountOptions,
} from '@svc/http';
import { findCredentialKind } from '@svc/identity';

export type UpgradeOptions = Pick<
  MountOptions,
  | 'authenticate'
  | 'gate'
  | 'rateLimits'
  | 'onRefused'
  | 'allowedOrigins'
  | 'trustsLoopback'
  | 'allowsHost'
  | 'followCredential'
>;

/** A caller who may open a stream. */
export interface Admitted {
  caller: Caller;
  /** Whether the credential is still valid, for the same tenant and with the permission. */
  recheck(): Promise<boolean>;
  /** Calls back when the answer of `recheck` may have changed. Returns a function that ends this. */
  followCredential(check: () => void): () => void;
}

/**
 * Admits a WebSocket upgrade in the order of the REST surface: host and origin, credentials and tenant, rate limit,
 * authorization, validation.
 *
 * @throws origin_not_allowed, unauthorized, tenant_access_denied, rate_limited, access_denied, invalid_body, …
 */
export function upgradeAdmission(options: UpgradeOptions) {
  const allows = originCheck(options.allowedOrigins, { trustsLoopback: options.trustsLoopback ?? false });
  const validators = new Map<Endpoint, ReturnType<typeof createValidator>>();
  const validate = (endpoint: Endpoint, raw: { params: object; query: object }) => {
    const check = validators.get(endpoint) ?? createValidator(endpoint);
    validators.set(endpoint, check);
    check({ ...raw, body: undefined });
  };
  return async (
    incoming: Incoming,
    endpoint: Endpoint,
    params: Readonly<Record<string, string>>,
  ): Promise<Admitted> => {
    const { req, ip, exchange } = incoming;
    const { origin, host } = req.headers;
    requireHost(req, options.allowsHost);
    if (origin !== undefined && !allows(origin, host)) throw new AppError('origin_not_allowed');
    const query = getQuery(incoming);
    const named = query['tenant_id'];
    const base = getCredentials(req, endpoint);
    const presented = {
      ...base,
      tenant: base.tenant || (typeof named === 'string' ? named : undefined),
      protocols: req.headers['sec-websocket-protocol'],
    };
    const outcome = await options.authenticate(presented);
    // Browsers send the session cookie with upgrades that other sites start, and always an origin.
    const isUnproven = outcome.kind === 'caller' && outcome.byCookie === true && origin === undefined;
    if (outcome.kind === 'refused' || isUnproven) {
      const code = outcome.kind === 'refused' ? outcome.code : 'origin_not_allowed';
      // The declared path: the key may be part of the sent one.
      const credential = findCredentialKind(presented);
      options.onRefused?.({ code, credential, method: 'GET', path: endpoint.path, ip, requestId: exchange.requestId });
      await takeStreamRate(options, guessBucket(ip));
      throw new AppError(code, outcome.kind === 'refused' ? outcome.extras : {});
    }
    const { caller } = outcome;
    await takeStreamRate(options, `tenant:${caller.tenant}`);
    authorize(caller, endpoint, options.gate);
    validate(endpoint, { params, query });
    checkNamedTenant(caller, query, undefined);
    return {
      caller,
      recheck: () => isStillAllowed(presented, endpoint, caller, options),
      followCredential: (check) => followCredential(options, outcome, check),
    };
  };
}

/** @throws rate_limited */
export async function takeStreamRate(
  { rateLimits }: Pick<UpgradeOptions, 'rateLimits'>,
  bucket: string,
): Promise<void> {
  if ((await rateLimits?.api(bucket))?.allowed === false) throw new AppError('rate_limited');
}
