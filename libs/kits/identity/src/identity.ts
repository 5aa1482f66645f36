import type { Caller } from '@svc/contract';

/**
 * Identity that a credential authenticates, before the tenant header is applied.
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
  /** A key of the store, whose uses are counted. */
  isManagedKey?: true;
  allowCrossTenant: boolean;
  source: Caller['source'];
  /**
   * Credential part of the submitter identity, such as `apikey:<16 hex>`.
   * See docs/reference/jobs.md#submit-a-job.
   */
  submitter: string;
  scopes?: readonly string[];
  /** Id of the user, for sessions of users. */
  userId?: string;
  /** Id of the session in notices; absent without one. */
  sessionId?: string;
  /** Unix ms; absent = the credential does not expire. */
  expiresAtMs?: number;
}

/** A value, or the promise of one. Most credentials are known at once, and an await costs as much as finding them. */
export type Soon<T> = T | Promise<T>;

/** Continues with a value, in this turn of the event loop if it is known. */
export const whenKnown = <T, R>(value: Soon<T>, next: (value: T) => Soon<R>): Soon<R> =>
  value instanceof Promise ? value.then(next) : next(value);

/** Finds API keys by the SHA-256 of the key; expired and revoked keys are not found. */
export interface KeySource {
  find(digest: string): Soon<Identity | undefined>;
}

/** Tenant names are part of store keys and are compared with `*`, so only plain names are valid. */
export const isTenantName = (name: string): boolean => /^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/.test(name);

/** Normalizes a role name from a key or token; `secops` is an alias of `admin`. */
export const roleName = (written: string): string => {
  const role = written.trim().toLowerCase();
  return role === 'secops' ? 'admin' : role;
};
