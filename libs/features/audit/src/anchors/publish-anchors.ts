import type { AuditRepository } from '@svc/store';
import type { Anchor } from './anchor';

export interface PublishDeps {
  store: Pick<AuditRepository, 'anchored' | 'newestCheckpoint' | 'noteAnchored' | 'tenants'>;
  anchor: Anchor;
  onFailure(error: unknown): void;
}

/**
 * Publishes the newest checkpoint of each chain that has none newer there. A failure ends the round: the next one continues with
 * what is then the newest, so nothing accumulates while the receiver is unavailable.
 */
export async function publishAnchors({ store, anchor, onFailure }: PublishDeps): Promise<void> {
  const [tenants, anchored] = await Promise.all([store.tenants(), store.anchored(anchor.kind)]);
  for (const tenant of tenants) {
    const newest = await store.newestCheckpoint(tenant);
    if (!newest || newest.seq <= Number(anchored[tenant] ?? 0)) continue;
    try {
      await anchor.publish(newest);
    } catch (error) {
      onFailure(error);
      return;
    }
    // A crash here publishes it again.
    await store.noteAnchored(anchor.kind, tenant, newest.seq);
  }
}
