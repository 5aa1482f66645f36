import type { Caller } from '@svc/contract';

/**
 * What a credential stands for, before the request's tenant header is looked at.
 * See docs/reference/http.md#authentication.
 */
export interface Identity {
  /** Empty when the credential names no tenant. */
  tenant: string;
  /** Empty when the credential names no principal. */
  principalId: string;
  role: string;
  keyId: string;
  keyName: string;
  allowCrossTenant: boolean;
  source: Caller['source'];
  /**
   * What the credential adds to the submitter identity, such as `apikey:<16 hex>`.
   * See docs/reference/jobs.md#submit-a-job.
   */
  submitter: string;
  scopes?: readonly string[];
}

/** Finds API keys by the SHA-256 of the key; expired and revoked keys are not found. */
export interface KeySource {
  find(digest: string): Identity | undefined | Promise<Identity | undefined>;
}

/** Tenant names end up in store keys and compare against `*`, so only plain ones are taken. */
export const isTenantName = (name: string): boolean => /^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/.test(name);

/** Role names as keys and tokens spell them: `secops` reads as `admin`. */
export const roleName = (written: string): string => {
  const role = written.trim().toLowerCase();
  return role === 'secops' ? 'admin' : role;
};
