import { AppError, type Caller } from '@svc/contract';
import type { PolicyDocument, SigningKey, TrustedKeys } from '@svc/policy';
import type { Store } from '@svc/store';
import type { AnnounceDeps } from '@svc/settings';
import type { ParsedBundles } from './parsed-bundles';

/** How bundles are signed. See docs/reference/policy.md#bundles. */
export interface PolicySigning {
  strict: 'off' | 'warn' | 'enforce';
  /** Absent: nothing can be signed. */
  key?: SigningKey | undefined;
  /** Keys whose bundles are good, that of the gateway among them. */
  trusted: TrustedKeys;
}

export interface PolicyReadDeps {
  store: Pick<Store, 'config' | 'policy' | 'index'>;
  parsed: ParsedBundles;
  /** The documents that bundles are merged into, as the kernel reads them; those that cannot be read are left out. */
  basePolicy(): Promise<readonly PolicyDocument[]>;
  clock: AnnounceDeps['clock'];
  /** TENANT_ID: the tenant of those who run the installation. */
  defaultTenant: string;
}

export interface PolicyWriteDeps extends PolicyReadDeps, AnnounceDeps {
  signing: PolicySigning;
  /** SAFETY_POLICY_MAX_BYTES: what kernels take of one document. */
  maxContentBytes: number;
  /** Of the license in force; 0 and -1 = any number. See docs/operations.md#license. */
  maxBundles(): number;
}

/**
 * Policies hold for all tenants, so that only the default tenant's admins, and callers who may act for all, write them.
 *
 * @throws tenant_access_denied
 */
export function requirePolicyWriter({ defaultTenant }: Pick<PolicyWriteDeps, 'defaultTenant'>, caller: Caller): void {
  if (caller.tenant !== defaultTenant && !caller.allowCrossTenant) throw new AppError('tenant_access_denied');
}

/**
 * The key that whatever is written is signed with; undefined when nothing has to be signed.
 *
 * @throws policy_signing_required
 */
export function signingKeyOf({ signing: { strict, key } }: Pick<PolicyWriteDeps, 'signing'>): SigningKey | undefined {
  if (!key && strict !== 'off') throw new AppError('policy_signing_required');
  return key;
}
