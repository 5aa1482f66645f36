import type { OverrideMode } from '@svc/contract';
import { canonicalHash, isRecord } from '@svc/json';

/** Signature of a stored bundle. See docs/reference/policy.md#bundles. */
export interface BundleSignature {
  algorithm: 'ed25519';
  key_id: string;
  /** Base64. */
  value: string;
  /** SHA-256 of the signed bytes, hex. */
  hash: string;
  signed_bytes: number;
}

/** One policy document of the config document system/policy, under `bundles.<id>`. */
export interface BundleRecord {
  /** YAML. */
  content: string;
  enabled: boolean;
  author?: string;
  /** Overrides only: the tenant of the workflow. */
  tenant?: string;
  message?: string;
  created_at?: string;
  updated_at?: string;
  version?: string;
  installed_at?: string;
  /** SHA-256 of `content`, hex. */
  sha256?: string;
  _signature?: BundleSignature;
}

/** Config document that holds the bundles. */
export const policyPlace = { scope: 'system', scope_id: 'policy' } as const;

export interface ReadBundles {
  /** By byte order of their ids, as they are merged. See docs/reference/policy.md#documents. */
  bundles: ReadonlyMap<string, BundleRecord>;
  /** Ids of the bundles that could not be read. */
  faults: readonly string[];
}

/**
 * The bundles of a stored document, which other software may have written: a bundle is a record or its bare text, and is
 * enabled by default.
 */
export function readBundles(data: Readonly<Record<string, unknown>> | undefined): ReadBundles {
  const stored = data?.['bundles'];
  const entries = isRecord(stored) ? Object.entries(stored) : [];
  const bundles = new Map<string, BundleRecord>();
  const faults: string[] = [];
  for (const [id, value] of entries.sort(([a], [b]) => Buffer.compare(Buffer.from(a), Buffer.from(b)))) {
    const record = typeof value === 'string' ? { content: value } : value;
    if (!isRecord(record) || typeof record['content'] !== 'string') faults.push(id);
    else bundles.set(id, { ...record, content: record['content'], enabled: record['enabled'] !== false });
  }
  return { bundles, faults };
}

/** Owner of a bundle, derived from its id. */
export type BundleFamily = 'operators' | 'velocity' | 'override' | 'pack';

export function bundleFamily(id: string): BundleFamily {
  if (id.startsWith('secops/')) return 'operators';
  if (id.startsWith('velocity/')) return 'velocity';
  return /^(workflow|session|job)\/[^/]+\/policy$/.test(id) ? 'override' : 'pack';
}

/** Whether a bundle is a workflow's `policy_override`. */
export const isWorkflowOverride = (id: string): boolean => /^workflow\/[^/]+\/policy$/.test(id);

/** Mode set by the data of system/default; any value but `extend` is the stricter mode. */
export function getOverrideMode(data: Readonly<Record<string, unknown>> | undefined): OverrideMode {
  const policy = data?.['policy'];
  return isRecord(policy) && policy['overrides'] === 'extend' ? 'extend' : 'tighten';
}

/**
 * Name of a snapshot of bundles: the second it was taken, and a prefix of the SHA-256 of its bundles.
 *
 * @param takenAt RFC 3339
 */
export const bundleSnapshotId = (takenAt: string, bundles: Readonly<Record<string, unknown>>): string =>
  `${takenAt.slice(0, 19)}Z-${canonicalHash(bundles).slice(0, 10)}`;

/**
 * Whether a tenant can read a bundle: an override belongs to the tenant of its workflow, all others apply to every tenant.
 * An override without a tenant is visible only to callers for all tenants.
 *
 * @param scope '*' = every tenant
 */
export const isBundleVisible = (scope: string, id: string, { tenant }: Pick<BundleRecord, 'tenant'>): boolean =>
  scope === '*' || bundleFamily(id) !== 'override' || tenant === scope;
