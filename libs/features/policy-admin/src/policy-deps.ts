import { AppError, requireInstallationCaller, type Caller } from '@svc/contract';
import type { PolicyDocument, SigningKey, TrustedKeys } from '@svc/policy';
import type { Store } from '@svc/store';
import type { AnnounceDeps } from '@svc/settings';
import type { ParsedBundleCache } from './parsed-bundle-cache';

/** Settings for signing bundles. See docs/reference/policy.md#bundles. */
export interface PolicySigning {
  strict: 'off' | 'warn' | 'enforce';
  /** Absent: nothing can be signed. */
  key?: SigningKey | undefined;
  /** Keys whose signatures are trusted, including the gateway's own. */
  trusted: TrustedKeys;
}

export interface PolicyReadDeps {
  store: Pick<Store, 'config' | 'policy' | 'index'>;
  parsed: ParsedBundleCache;
  /** The documents that bundles are merged into, as the kernel reads them; unreadable ones are left out. */
  basePolicy(): Promise<readonly PolicyDocument[]>;
  clock: AnnounceDeps['clock'];
  /** TENANT_ID: the tenant of the operators of the installation. */
  defaultTenant: string;
}

export interface PolicyWriteDeps extends PolicyReadDeps, AnnounceDeps {
  signing: PolicySigning;
  /** SAFETY_POLICY_MAX_BYTES: size limit of one document in the kernel. */
  maxContentBytes: number;
  /** From the license in effect; 0 and -1 = unlimited. See docs/operations.md#license. */
  maxBundles(): number;
}

/**
 * Policies apply to all tenants, so only the default tenant's admins, and callers who act for all tenants, can write them.
 *
 * @throws tenant_access_denied
 */
export function requirePolicyWriter({ defaultTenant }: Pick<PolicyWriteDeps, 'defaultTenant'>, caller: Caller): void {
  requireInstallationCaller(caller, defaultTenant);
}

/**
 * The key that signs every write; undefined when signing is off.
 *
 * @throws policy_signing_required
 */
export function getSigningKey({ signing: { strict, key } }: Pick<PolicyWriteDeps, 'signing'>): SigningKey | undefined {
  if (!key && strict !== 'off') throw new AppError('policy_signing_required');
  return key;
}
