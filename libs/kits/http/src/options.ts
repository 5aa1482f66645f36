import type { AppError, AuditAct, DataPurpose, Endpoint, ErrorCode } from '@svc/contract';
import type { Authenticate, CredentialKind, CredentialRef } from '@svc/identity';
import type { GateRules } from './gate';
import type { HostCheck } from './hosts';
import type { RateLimiter } from './rate-limiter';

/** An answered request, for logs and metrics. */
export interface Served {
  /** Undefined when no route matched. */
  endpoint: Endpoint | undefined;
  method: string;
  /** Without the query, which may contain secrets. */
  path: string;
  status: number;
  durationMs: number;
  requestId: string;
  tenant: string | undefined;
  ip: string;
}

/** A request whose credentials were refused. */
export interface RefusedRequest {
  code: ErrorCode;
  credential: CredentialKind;
  method: string;
  path: string;
  ip: string;
  requestId: string;
}

/** Options of the HTTP server, set by the app. */
export interface MountOptions {
  authenticate: Authenticate;
  gate: GateRules;
  /**
   * Verifies the token of a data URL. Returns the tenant it is for.
   *
   * @throws AppError when the token is not valid for this purpose
   */
  openSignedUrl?(
    purpose: DataPurpose,
    params: Readonly<Record<string, string>>,
    query: Readonly<Record<string, unknown>>,
  ): { tenant: string };
  /**
   * Verifies the credential of a route with `ownCredential`. Returns the tenant it is for.
   *
   * @throws AppError, of which `unauthorized` counts as a failed authentication
   */
  openOwnCredential?(
    kind: NonNullable<Endpoint['ownCredential']>,
    header: (name: string) => string | undefined,
  ): Promise<{ tenant: string }>;
  /**
   * Runs a request whose change is recorded in the audit chain of the tenant as this act. Absent = acts are not recorded.
   *
   * @throws AppError when the act cannot be recorded and must be
   */
  audited?<T>(tenant: string, act: AuditAct, request: () => Promise<T>): Promise<T>;
  /**
   * Absent = no rate limits. `api` counts tenants and failed callers, `open` counts addresses on public routes, pages and
   * unknown paths.
   */
  rateLimits?: { api: RateLimiter; open: RateLimiter };
  /** Body limits in bytes, by the name an endpoint's `bodyLimit` uses. */
  bodyLimits: { json: number; job: number; artifact: number; data: number; dataset: number; form: number };
  /** Limit of the license for bodies other than artifacts and results; 0 or less = none. */
  licensedBodyBytes?(): number;
  /** Origins that may call from browsers; empty = the service's own, and loopback where that is trusted. */
  allowedOrigins: readonly string[];
  /** Pages of any program on the browser's machine may call with the session cookie; never in production. */
  trustsLoopback?: boolean;
  /** Accepted host names; absent = any. SVC_ALLOWED_HOSTS. */
  allowsHost?: HostCheck;
  /** Addresses and CIDR ranges of proxies whose X-Forwarded-For is trusted; empty = none. SVC_TRUSTED_PROXIES. */
  trustedProxies?: readonly string[];
  /** In production with TLS only. */
  hstsMaxAgeSec?: number;
  /** Timeout of a handler, after which the response is 503. */
  handlerTimeoutMs: number;
  /** Interval at which the credential of an open event stream is rechecked. GATEWAY_WS_REVALIDATION_INTERVAL. */
  streamRecheckMs?: number;
  /**
   * Calls back when the credential of an open stream may have ended, which is found by the interval otherwise. Returns a
   * function that ends this.
   */
  followCredential?(credential: CredentialRef, check: () => void): () => void;
  /** Aborted when the service stops: event streams end. */
  stopping?: AbortSignal;
  /** The error to return while a dependency of a route is unavailable. */
  missingDependency?(endpoint: Endpoint): ErrorCode | undefined;
  /** Recognizes failures of the app's dependencies, such as a lost Redis connection. */
  asAppError?(error: unknown): AppError | undefined;
  onServed?(served: Served): void;
  /** Called for an error response; `endpoint` is absent when none matched. */
  onRejected?(rejected: { endpoint: Endpoint | undefined; code: ErrorCode }): void;
  /** A failed authentication, for the audit trail. */
  onRefused?(refused: RefusedRequest): void;
  /** Called for a defect: any exception but an AppError. The response is 500 without detail. */
  onDefect(error: unknown, at: { endpoint: string | undefined; requestId: string }): void;
  /** Checks every response against its declaration; on in tests, off in production. */
  checkAnswers: boolean;
}
