import { consistencyProof, inclusionProof, type SignedCheckpoint } from '@svc/audit-chain';
import { AppError, type AuditConsistency, type AuditProof, type AuditTimestamp, type Caller } from '@svc/contract';
import type { AuditRepository } from '@svc/store';
import { chainTenant } from './chain-scope';
import { toEventView } from './read-events';
import type { Sealer } from './sealer';
import { openTree } from './tree';

export interface ProofDeps {
  store: {
    audit: Pick<
      AuditRepository,
      'checkpoints' | 'checkpointsBack' | 'eventAt' | 'leaves' | 'newestCheckpoint' | 'tileRoots' | 'timestampsBack'
    >;
  };
  sealer: Pick<Sealer, 'seal'>;
  /** Takes a checkpoint of everything that was recorded so far, if checkpoints are signed. */
  checkpointNow(tenant: string): Promise<void>;
  /** PEM; '' when checkpoints are not signed. */
  publicKey: string;
}

/** Signed checkpoints, newest first. */
export async function listCheckpoints(
  deps: ProofDeps,
  caller: Caller,
  { tenant, limit = 100 }: { tenant?: string; limit?: number },
): Promise<{ items: SignedCheckpoint[]; public_key: string }> {
  const items = await deps.store.audit.checkpointsBack(chainTenant(caller, tenant), limit);
  return { items, public_key: deps.publicKey };
}

/** Tokens of the time-stamp authority with the checkpoints that they sign, newest first. @throws tenant_access_denied */
export async function listTimestamps(
  deps: Pick<ProofDeps, 'store'>,
  caller: Caller,
  { tenant: wanted, limit = 100, before }: { tenant?: string; limit?: number; before?: number },
): Promise<{ items: AuditTimestamp[] }> {
  const tenant = chainTenant(caller, wanted);
  const kept = await deps.store.audit.timestampsBack(tenant, before, limit);
  const checkpoints = await Promise.all(kept.map(({ seq }) => readCheckpoint(deps, tenant, seq)));
  return { items: kept.map((one, i) => ({ ...one, ...(checkpoints[i] && { checkpoint: checkpoints[i] }) })) };
}

/**
 * The proof that an event is in the chain that a checkpoint signs: by default the newest one. If that does not contain the
 * event yet, a new one is taken.
 *
 * @throws audit_event_not_found, audit_checkpoint_not_found, tenant_access_denied
 */
export async function proveEvent(
  deps: ProofDeps,
  caller: Caller,
  seq: number,
  { tenant: wanted, tree_size }: { tenant?: string; tree_size?: number },
): Promise<AuditProof> {
  const tenant = chainTenant(caller, wanted);
  const { audit } = deps.store;
  await deps.sealer.seal();
  const stored = await audit.eventAt(tenant, seq);
  if (!stored) throw new AppError('audit_event_not_found');
  const checkpoint = await findCheckpoint(deps, tenant, seq, tree_size);
  const path = await inclusionProof(openTree(audit, tenant), seq - 1, checkpoint.seq);
  return {
    event: toEventView(stored),
    leaf_index: seq - 1,
    tree_size: checkpoint.seq,
    audit_path: path.map((hash) => hash.toString('hex')),
    checkpoint,
  };
}

async function findCheckpoint(
  deps: ProofDeps,
  tenant: string,
  seq: number,
  size: number | undefined,
): Promise<SignedCheckpoint> {
  const find = () =>
    size === undefined ? deps.store.audit.newestCheckpoint(tenant) : readCheckpoint(deps, tenant, size);
  let checkpoint = await find();
  if (size === undefined && (!checkpoint || checkpoint.seq < seq)) {
    await deps.checkpointNow(tenant);
    checkpoint = await find();
  }
  if (!checkpoint || checkpoint.seq < seq) throw new AppError('audit_checkpoint_not_found');
  return checkpoint;
}

async function readCheckpoint(
  { store }: Pick<ProofDeps, 'store'>,
  tenant: string,
  size: number,
): Promise<SignedCheckpoint | undefined> {
  const [found] = await store.audit.checkpoints(tenant, size, 1);
  return found?.seq === size ? found : undefined;
}

/** @throws audit_query_invalid, audit_checkpoint_not_found, tenant_access_denied */
export async function proveConsistency(
  deps: ProofDeps,
  caller: Caller,
  { tenant: wanted, first, second }: { tenant?: string; first: number; second?: number },
): Promise<AuditConsistency> {
  const tenant = chainTenant(caller, wanted);
  const [earlier, later] = await Promise.all([
    readCheckpoint(deps, tenant, first),
    second === undefined ? deps.store.audit.newestCheckpoint(tenant) : readCheckpoint(deps, tenant, second),
  ]);
  if (!earlier || !later) throw new AppError('audit_checkpoint_not_found');
  if (earlier.seq > later.seq)
    throw new AppError('audit_query_invalid', { error: 'first must not be greater than second' });
  const proof = await consistencyProof(openTree(deps.store.audit, tenant), earlier.seq, later.seq);
  return { first: earlier, second: later, proof: proof.map((hash) => hash.toString('hex')) };
}
