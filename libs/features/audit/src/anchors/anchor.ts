import type { SignedCheckpoint } from '@svc/audit-chain';

/** A place outside of the store to which checkpoints are published. */
export interface Anchor {
  kind: 'webhook' | 'tsa';
  /** @throws Error when it was not published */
  publish(checkpoint: SignedCheckpoint): Promise<void>;
}
