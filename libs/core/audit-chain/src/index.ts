/** The hash chain of audit events: sealing, verification, Merkle proofs and signed checkpoints. No I/O. */
export { canonicalText } from './canonical-text';
export {
  emptyHead,
  headText,
  parseHead,
  sealFacts,
  sha256,
  toAuditEvent,
  type ChainHead,
  type SealedEvent,
} from './chain';
export { isSigned, getKeyId, signCheckpoint, type Checkpoint, type SignedCheckpoint } from './checkpoint';
export {
  consistencyProof,
  emptyRoot,
  inclusionProof,
  isConsistent,
  isIncluded,
  leafHash,
  nodeHash,
  treeRoot,
  type ReadSubtree,
} from './merkle';
export { readOutbox, toTimestamp } from './outbox';
export {
  ChainVerifier,
  gapTypes,
  type ChainGap,
  type ChainReport,
  type ChainStatus,
  type GapType,
  type StoredEvent,
  type Witness,
} from './verify';
