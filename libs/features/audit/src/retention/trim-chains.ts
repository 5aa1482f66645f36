import { ChainVerifier, type ChainGap } from '@svc/audit-chain';
import type { AuditAct } from '@svc/contract';
import type { Clock } from '@svc/platform';
import type { AuditRepository, LegalHoldRepository, StoredAuditEvent } from '@svc/store';

export interface RetentionDeps {
  store: {
    audit: Pick<AuditRepository, 'boundary' | 'range' | 'tenants' | 'trim'>;
    legalHolds: Pick<LegalHoldRepository, 'heldTenants'>;
  };
  clock: Pick<Clock, 'nowMs'>;
  /** Hours for which events are kept; undefined = for ever. */
  retentionHours(): number | undefined;
  onTrimmed(tenant: string, events: number): void;
  /** Expired events that do not verify, which are kept. */
  onFault(tenant: string, gap: ChainGap): void;
}

/** Events of one cut: bounds the time for which it blocks Redis. */
const BATCH = 2_000;

/**
 * Removes the expired events of all chains, whole events from the front. What does not verify is not removed, because it is the
 * evidence of a manipulation. See docs/reference/audit.md#retention.
 */
export async function trimChains(deps: RetentionDeps): Promise<void> {
  const hours = deps.retentionHours();
  if (hours === undefined) return;
  const cutMs = deps.clock.nowMs() - hours * 3_600_000;
  const held = new Set(await deps.store.legalHolds.heldTenants());
  for (const tenant of await deps.store.audit.tenants()) {
    if (!held.has(tenant)) await trimChain(deps, tenant, cutMs);
  }
}

async function trimChain(deps: RetentionDeps, tenant: string, cutMs: number): Promise<void> {
  const { audit } = deps.store;
  for (;;) {
    const boundary = await audit.boundary(tenant);
    const expired = await audit.range(tenant, '-', String(cutMs - 1), BATCH);
    const last = expired.at(-1);
    if (!last) return;
    const [fault] = verify(expired, boundary);
    if (fault) return deps.onFault(tenant, fault);
    const seq = readSeq(last);
    const cut = { read: boundary.seq, seq, hash: last.hash, id: last.id };
    // The script refuses it under a hold that was created in between.
    // Removing the records of earlier cuts is not recorded, or they would never end.
    const isRecorded = expired.some(({ text }) => !text.includes('"event_type":"audit.retention"'));
    const outcome = await audit.trim(tenant, cut, isRecorded ? toAct(expired.length, seq, last.hash) : undefined);
    if (outcome.kind !== 'trimmed') return;
    deps.onTrimmed(tenant, outcome.events);
    if (expired.length < BATCH) return;
  }
}

function verify(events: readonly StoredAuditEvent[], before: { seq: number; hash: string }): ChainGap[] {
  const run = new ChainVerifier({ before });
  for (const event of events) run.add(event);
  return run.finish(undefined).gaps;
}

const readSeq = ({ id }: StoredAuditEvent): number => Number(id.slice(id.indexOf('-') + 1));

const toAct = (events: number, seq: number, hash: string): AuditAct => ({
  event_type: 'audit.retention',
  action: 'audit.trim',
  severity: 'LOW',
  extra: { events: String(events), boundary_seq: String(seq), boundary_hash: hash },
});
