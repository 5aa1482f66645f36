import { contentHash, isBundleVisible, policyPlace, readBundles, type BundleRecord } from '@svc/policy';
import type { ConfigDocument, ConfigRepository } from '@svc/store';

/** A policy bundle and the time in which it was in effect. */
export interface PolicyWindow {
  bundle_id: string;
  name: string;
  version: string;
  /** RFC 3339. */
  activated_at: string;
  /** Absent while it is in effect. */
  deactivated_at?: string;
  content_sha256: string;
  ed25519_signature?: string;
  public_key_id?: string;
  signed_by?: string;
  note?: 'unsigned' | 'signature-malformed';
}

const MAX_REVISIONS = 20;
/** Bounds the manifest. */
const MAX_WINDOWS = 1_000;

/**
 * The bundles that were in effect in a time, as far back as revisions of the document are kept; what was in effect before the
 * oldest counts from its own last write. Overrides of other tenants are left out.
 */
export async function readPolicyWindows(
  store: { config: Pick<ConfigRepository, 'earlier'> },
  tenant: string,
  { fromMs, toMs }: { fromMs: number; toMs: number },
): Promise<PolicyWindow[]> {
  const all = toWindows(await readRevisions(store), tenant);
  return all
    .filter(
      (one) =>
        Date.parse(one.activated_at) <= toMs && (!one.deactivated_at || Date.parse(one.deactivated_at) >= fromMs),
    )
    .sort((a, b) => compare(a.bundle_id, b.bundle_id) || compare(a.activated_at, b.activated_at))
    .slice(0, MAX_WINDOWS);
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

/** Oldest first. */
async function readRevisions(store: { config: Pick<ConfigRepository, 'earlier'> }): Promise<ConfigDocument[]> {
  const revisions: ConfigDocument[] = [];
  for (let back = 0; back < MAX_REVISIONS; back++) {
    const document = await store.config.earlier(policyPlace.scope, policyPlace.scope_id, back);
    if (!document) break;
    revisions.unshift(document);
  }
  return revisions;
}

function toWindows(revisions: readonly ConfigDocument[], tenant: string): PolicyWindow[] {
  const done: PolicyWindow[] = [];
  const open = new Map<string, PolicyWindow>();
  for (const [i, { data, updated_at: changedAt }] of revisions.entries()) {
    const { bundles } = readBundles(data);
    const inEffect = new Map(
      [...bundles].filter(([id, record]) => record.enabled && isBundleVisible(tenant, id, record)),
    );
    for (const [id, window] of open) {
      const record = inEffect.get(id);
      if (record && contentHash(record.content) === window.content_sha256) continue;
      done.push({ ...window, deactivated_at: changedAt });
      open.delete(id);
    }
    for (const [id, record] of inEffect) {
      if (open.has(id)) continue;
      const since = i === 0 ? (record.updated_at ?? record.created_at ?? changedAt) : changedAt;
      open.set(id, toWindow(id, record, since));
    }
  }
  return [...done, ...open.values()];
}

function toWindow(id: string, record: BundleRecord, activatedAt: string): PolicyWindow {
  const { _signature: signature, author } = record;
  const isWellFormed = typeof signature?.value === 'string' && typeof signature.key_id === 'string';
  return {
    bundle_id: id,
    name: id.slice(id.lastIndexOf('/') + 1),
    version: record.version ?? '',
    activated_at: activatedAt,
    content_sha256: contentHash(record.content),
    ...(isWellFormed && { ed25519_signature: signature.value, public_key_id: signature.key_id }),
    ...(isWellFormed && author && { signed_by: author }),
    ...(!isWellFormed && { note: signature ? ('signature-malformed' as const) : ('unsigned' as const) }),
  };
}
