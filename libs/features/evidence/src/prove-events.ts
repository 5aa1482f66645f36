import {
  consistencyProof,
  inclusionProof,
  isSigned,
  nodeHash,
  type ReadSubtree,
  type SignedCheckpoint,
} from '@svc/audit-chain';
import { openTree } from '@svc/audit';
import { AppError } from '@svc/contract';
import type { EvidenceCheckpoints } from '@svc/evidence-format';
import { TILE_SIZE, type AuditRepository } from '@svc/store';
import type { KeyObject } from 'node:crypto';

export interface ProveDeps {
  store: { audit: Pick<AuditRepository, 'checkpoints' | 'leaves' | 'newestCheckpoint' | 'tileRoots'> };
  publicKeys: readonly KeyObject[];
}

export interface Proofs {
  checkpoints: EvidenceCheckpoints;
  /** Audit paths (hex) by sequence number; those that could not be computed are absent. */
  paths: ReadonlyMap<number, string[]>;
}

const toHex = (hashes: readonly Buffer[]): string[] => hashes.map((hash) => hash.toString('hex'));

/**
 * Proofs of events to the earliest checkpoint that covers them all, which was signed closest to the events, and from there to the
 * newest one. Where leaves are missing there is no proof: the bundle then shows that the chain was changed.
 *
 * @param seqs ascending
 * @throws audit_checkpoint_not_found
 */
export async function proveEvents(
  { store, publicKeys }: ProveDeps,
  tenant: string,
  seqs: readonly number[],
): Promise<Proofs> {
  const newest = await store.audit.newestCheckpoint(tenant);
  if (!newest) throw new AppError('audit_checkpoint_not_found');
  const covering = await findCovering(store.audit, publicKeys, { tenant, seq: seqs.at(-1) ?? newest.seq, newest });
  const tree = remember(openTree(store.audit, tenant));
  const paths = new Map<number, string[]>();
  for (const seq of seqs) {
    const path = await inclusionProof(tree, seq - 1, covering.seq).catch(() => undefined);
    if (path) paths.set(seq, toHex(path));
  }
  const consistency = await consistencyProof(tree, covering.seq, newest.seq).catch(() => []);
  return { checkpoints: { covering, newest, consistency: toHex(consistency) }, paths };
}

async function findCovering(
  audit: ProveDeps['store']['audit'],
  keys: readonly KeyObject[],
  { tenant, seq, newest }: { tenant: string; seq: number; newest: SignedCheckpoint },
): Promise<SignedCheckpoint> {
  const [earliest] = await audit.checkpoints(tenant, seq, 1);
  return earliest && earliest.seq <= newest.seq && isSigned(earliest, keys) ? earliest : newest;
}

/** Paths of neighbouring events share most subtrees, which are computed once. */
function remember(read: ReadSubtree): ReadSubtree {
  const known = new Map<string, Promise<Buffer>>();
  const get: ReadSubtree = (start, size) => {
    const name = `${start}:${size}`;
    const before = known.get(name);
    if (before) return before;
    const isLeafOrTile = size === 1 || size >= TILE_SIZE;
    const computed = isLeafOrTile ? read(start, size) : join(start, size / 2);
    known.set(name, computed);
    return computed;
  };
  const join = async (start: number, half: number) => nodeHash(await get(start, half), await get(start + half, half));
  return get;
}
