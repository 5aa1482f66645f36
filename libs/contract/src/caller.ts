import { AppError } from './errors';

/** Tenant whose records a caller may access, or '*' for all. Every repository call requires one. */
export type TenantScope = string & { readonly __tenantScope?: never };

export const everyTenant: TenantScope = '*';

/** The authenticated caller. See docs/reference/http.md#authentication. */
export interface Caller {
  /** Tenant of the request: from the header if the credential allows it, else the credential's tenant. */
  tenant: string;
  /** Tenant scope of reads and writes: '*' only for credentials that allow cross-tenant access and named no tenant. */
  scope: TenantScope;
  principalId: string;
  role: string;
  /** `static:` + 12 hex of the key's SHA-256 for configured keys; the managed key's id otherwise. */
  keyId: string;
  keyName: string;
  allowCrossTenant: boolean;
  source: 'api_key' | 'jwt' | 'oidc' | 'session' | 'anonymous';
  /**
   * Opaque submitter identity for the self-approval rule: `apikey:<16 hex of sha256>|principal:<id>`, for users
   * `user:<id>|principal:<username>`.
   * See docs/reference/jobs.md#submit-a-job.
   */
  submitterId: string;
  /** Scopes of a managed API key; absent = the credential is not bound to scopes. */
  scopes?: readonly string[];
  /** Id of the user whose session it is; absent for all other credentials. */
  userId?: string;
  /** `session:<16 hex>`, which does not reveal the token; absent without a session. */
  sessionId?: string;
}

/**
 * Scope in which a caller manages records of the installation (schemas, policies, queues): all tenants for callers of
 * the default tenant and for cross-tenant credentials that named no tenant, the caller's own otherwise.
 */
export const managedScope = (
  { tenant, scope }: Pick<Caller, 'tenant' | 'scope'>,
  defaultTenant: string,
): TenantScope => (scope === everyTenant || tenant === defaultTenant ? everyTenant : tenant);

/**
 * The default tenant runs the installation: its callers, and those with cross-tenant access, read and change what concerns all
 * tenants.
 *
 * @throws tenant_access_denied
 */
export function requireInstallationCaller(
  { tenant, allowCrossTenant }: Pick<Caller, 'tenant' | 'allowCrossTenant'>,
  defaultTenant: string,
): void {
  if (tenant !== defaultTenant && !allowCrossTenant) throw new AppError('tenant_access_denied');
}
