import { AppError, type AuditAct, type ErrorCode, type Role } from '@svc/contract';
import type { License } from '@svc/identity';
import type { Clock, Random } from '@svc/platform';
import { type ScimFaultType, ScimFault } from '@svc/scim-protocol';
import type { Store } from '@svc/store';
import type { GroupRepository } from './groups/group.repository';
import type { TokenRepository } from './tokens/token.repository';

export interface ScimDeps {
  store: Pick<Store, 'users'>;
  groups: GroupRepository;
  tokens: TokenRepository;
  license: Pick<License, 'entitlements'>;
  clock: Pick<Clock, 'nowMs'>;
  random: Pick<Random, 'uuid'>;
  /** Built-in and stored roles. */
  roles(): Readonly<Record<string, Role>>;
  /** Called after a write that ended the sessions of a user. Keys that a disabled user made end with the write. A lost call delays the end of open streams only. */
  onSessionsEnded(userId: string): void;
  /** The tenant of all users that SCIM manages. */
  defaultTenant: string;
  settings: ScimSettings;
}

export interface ScimSettings {
  /** URL of this gateway as clients see it, without a slash at the end; undefined = as the request names it. */
  baseUrl: string | undefined;
  /** Scheme of the listener, for that case. */
  scheme: 'http' | 'https';
  /** SVC_SCIM_BEARER_TOKEN */
  bearerToken: string | undefined;
  /** Whether users that a client deleted are reported as absent, rather than as not active. */
  hidesDeleted: boolean;
  maxBodyBytes: number;
}

/** A request of a SCIM client. */
export interface ScimRequest {
  requestId: string;
  /** URL below which the resources are, without a slash at the end. */
  baseUrl: string;
  /** Entity tags that the resource must have (If-Match). */
  ifMatch?: string;
}

const errorCodes: Readonly<Record<ScimFaultType, ErrorCode>> = {
  invalidFilter: 'scim_invalid_filter',
  invalidPath: 'scim_invalid_path',
  invalidSyntax: 'scim_invalid_syntax',
  invalidValue: 'scim_invalid_value',
  mutability: 'scim_mutability',
  noTarget: 'scim_no_target',
};

/** Runs an operation, with faults of the protocol as errors of this API. */
export async function withFaults<T>(operation: () => Promise<T>): Promise<T> {
  try {
    return await operation();
  } catch (error) {
    if (error instanceof ScimFault) throw new AppError(errorCodes[error.scimType], { error: error.message });
    throw error;
  }
}

export const MAX_TRIES = 8;

/** An audit event about a user, group or token that a SCIM client changed. */
export const buildAct = (
  action: string,
  { requestId }: Pick<ScimRequest, 'requestId'>,
  resource: { type: string; id: string },
  extra: Readonly<Record<string, string>> = {},
): AuditAct => ({
  event_type: 'identity.change',
  action,
  severity: 'MEDIUM',
  identity: 'scim',
  extra: { request_id: requestId, source: 'scim', resource_type: resource.type, resource_id: resource.id, ...extra },
});

/** Entity tag of a revision. */
export const toVersion = (revision: number): string => `W/"${revision}"`;

/**
 * Weak tags are compared as strong ones: each revision has one representation.
 *
 * @param tags value of If-Match or If-None-Match
 */
export function includesVersion(tags: string, revision: number): boolean {
  const wanted = `"${revision}"`;
  return tags.split(',').some((tag) => tag.trim() === '*' || tag.trim().replace(/^W\//, '') === wanted);
}

/** @throws scim_version_mismatch */
export function requireVersion({ ifMatch }: ScimRequest, revision: number): void {
  if (ifMatch !== undefined && !includesVersion(ifMatch, revision)) throw new AppError('scim_version_mismatch');
}
