import type { Caller } from '@svc/contract';
import { contentHash, readBundles, type BundleRecord } from '@svc/policy';
import { readVisibleBundles, visibleTo } from '@svc/policy-admin';
import type { Store } from '@svc/store';
import type { DocumentReader } from './read-documents';
import type { FoundEvent } from './search-chain';

export interface PolicyDeps {
  store: Pick<Store, 'config' | 'policy' | 'index'>;
  /** TENANT_ID: the tenant of the operators of the installation. */
  defaultTenant: string;
}

/** `policies.json` */
export interface PolicyEvidence {
  /** Policy snapshots that decisions name, with the events in which they do. */
  decided_by: { policy_snapshot: string; first_seq: number; last_seq: number; decisions: number }[];
  /** Policy documents that the tenant can read: the stored ones, and those of kept snapshots. */
  bundles: object[];
  snapshots: { id: string; created_at: string; note: string }[];
}

/** Documents of tenants are listed to them only. Equal texts are listed once, with every snapshot that contains them. */
export async function readPolicies(
  deps: PolicyDeps,
  caller: Caller,
  events: readonly FoundEvent[],
  documents: DocumentReader,
): Promise<PolicyEvidence> {
  const heads = await deps.store.policy.snapshots();
  const known = new Map<string, { bundle: object; snapshots: string[] }>();
  const add = (bundles: ReadonlyMap<string, BundleRecord>, snapshot: string) => {
    for (const [id, record] of bundles) {
      const hash = contentHash(record.content);
      const name = `${id}\n${hash}\n${record.enabled}`;
      const entry = known.get(name) ?? { bundle: describeBundle(id, record, hash, documents), snapshots: [] };
      entry.snapshots.push(snapshot);
      known.set(name, entry);
    }
  };
  add((await readVisibleBundles(deps, caller)).bundles, 'current');
  for (const { id } of heads) {
    const snapshot = await deps.store.policy.snapshot(id);
    if (snapshot) add(visibleTo(deps, caller, readBundles({ bundles: snapshot.bundles }).bundles), id);
  }
  return {
    decided_by: listDecided(events),
    bundles: [...known.values()].map(({ bundle, snapshots }) => ({ ...bundle, snapshots })),
    snapshots: heads.map(({ id, created_at, note }) => ({ id, created_at, note })),
  };
}

function describeBundle(id: string, record: BundleRecord, hash: string, documents: DocumentReader): object {
  const { enabled, author, version, created_at, updated_at, _signature: signature } = record;
  const content = documents.addText(record.content);
  if (content !== undefined)
    documents.entries.push({
      job_id: '',
      role: 'policy',
      pointer: id,
      sha256: hash,
      bytes: Buffer.byteLength(record.content),
      content,
    });
  return { id, enabled, author, version, created_at, updated_at, content_sha256: hash, signature, content };
}

function listDecided(events: readonly FoundEvent[]): PolicyEvidence['decided_by'] {
  const byVersion = new Map<string, PolicyEvidence['decided_by'][number]>();
  for (const { seq, fields } of events) {
    const version = fields['policy_version'];
    if (typeof version !== 'string') continue;
    const entry = byVersion.get(version) ?? { policy_snapshot: version, first_seq: seq, last_seq: seq, decisions: 0 };
    byVersion.set(version, { ...entry, last_seq: seq, decisions: entry.decisions + 1 });
  }
  return [...byVersion.values()];
}
