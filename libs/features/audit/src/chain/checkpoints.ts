import { isSigned, signCheckpoint, treeRoot, type SignedCheckpoint, type Witness } from '@svc/audit-chain';
import type { Clock } from '@svc/platform';
import type { AuditRepository } from '@svc/store';
import type { KeyObject } from 'node:crypto';
import { openTree } from './tree';
import type { ReadWitnesses } from './verify-chain';

type CheckpointStore = Pick<
  AuditRepository,
  'checkpoints' | 'head' | 'keepCheckpoint' | 'leaves' | 'newestCheckpoint' | 'tileRoots'
>;

export interface CheckpointDeps {
  store: { audit: CheckpointStore };
  clock: Pick<Clock, 'nowMs'>;
  /** Ed25519, private. */
  signingKey: KeyObject;
  installation: string;
}

/**
 * Signs the current state of a chain and keeps the signature with it.
 *
 * @returns undefined when the newest checkpoint covers every event
 */
export async function takeCheckpoint(deps: CheckpointDeps, tenant: string): Promise<SignedCheckpoint | undefined> {
  const { audit } = deps.store;
  const [head, newest] = await Promise.all([audit.head(tenant), audit.newestCheckpoint(tenant)]);
  if (!head) throw new Error(`the head of the audit chain of ${tenant} cannot be read: verify the chain`);
  if (head.seq === 0 || (newest && newest.seq >= head.seq)) return undefined;
  const root = await treeRoot(openTree(audit, tenant), head.seq);
  const checkpoint = signCheckpoint(
    {
      installation: deps.installation,
      tenant_id: tenant,
      seq: head.seq,
      event_hash: head.hash,
      merkle_root: root.toString('hex'),
      at: new Date(deps.clock.nowMs()).toISOString(),
    },
    deps.signingKey,
  );
  await audit.keepCheckpoint(tenant, checkpoint);
  return checkpoint;
}

/** Reads checkpoints that are outside of the store, such as those of an anchor file. */
export type ReadAnchors = (tenant: string) => Promise<readonly SignedCheckpoint[]>;

const PAGE = 1_000;

/**
 * The signed heads of a chain: those that are kept with it, and those that were published elsewhere, which remain when the store
 * is rewritten. A checkpoint whose signature does not verify is left out: any client of the store could forge faults with it.
 *
 * @param keys public keys of this installation
 */
export const witnessReader =
  (
    { store, anchors }: { store: { audit: Pick<AuditRepository, 'checkpoints'> }; anchors: ReadAnchors },
    keys: readonly KeyObject[],
  ): ReadWitnesses =>
  async (tenant, fromSeq) => {
    const witnesses: Witness[] = [];
    const add = (type: Witness['type'], checkpoints: readonly SignedCheckpoint[]) => {
      for (const one of checkpoints) {
        if (one.tenant_id !== tenant || one.seq < fromSeq || !isSigned(one, keys)) continue;
        witnesses.push({ seq: one.seq, hash: one.event_hash, type });
      }
    };
    if (keys.length === 0) return [];
    for (let from = fromSeq; ;) {
      const page = await store.audit.checkpoints(tenant, from, PAGE);
      add('checkpoint', page);
      const last = page.at(-1);
      if (!last || page.length < PAGE) break;
      from = last.seq + 1;
    }
    add('anchor', await anchors(tenant));
    return witnesses.sort((a, b) => a.seq - b.seq);
  };
