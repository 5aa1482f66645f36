import { Sealer, verifyWhole } from '@svc/audit';
import type { AuditEvent } from '@svc/contract';
import type { Store } from '@svc/store';
import { describeTransition, type AuditHistory } from './history';

const BATCH = 5_000;

/**
 * Verifies the audit chains of all tenants and reads which transitions they contain. What is in the outbox is sealed first, next
 * to an engine that does the same.
 */
export async function readAudit(store: Pick<Store, 'audit'>): Promise<Map<string, AuditHistory>> {
  const sealer = new Sealer(store.audit);
  await sealer.seal();
  const chains = new Map<string, AuditHistory>();
  for (const tenant of await store.audit.tenants()) {
    const { status, gaps } = await verifyWhole(
      { store, sealer, hmacKey: undefined, witnesses: () => Promise.resolve([]), retentionHours: () => undefined },
      tenant,
    );
    chains.set(tenant, {
      status,
      gaps: gaps.map(({ type, at_seq }) => `${type} at ${at_seq}`),
      transitions: await readTransitions(store, tenant),
    });
  }
  return chains;
}

async function readTransitions({ audit }: Pick<Store, 'audit'>, tenant: string): Promise<Set<string>> {
  const transitions = new Set<string>();
  for (let from = '-'; ;) {
    const batch = await audit.range(tenant, from, '+', BATCH);
    for (const { text } of batch) {
      const { job_id, extra = {}, timestamp } = JSON.parse(text) as AuditEvent;
      const to = extra['to'];
      if (to === undefined) continue;
      if (job_id !== undefined) transitions.add(describeTransition(job_id, to, readMicros(timestamp)));
      else transitions.add(describeTransition(extra['run_id'] ?? '', to));
    }
    const last = batch.at(-1);
    if (!last || batch.length < BATCH) return transitions;
    from = `(${last.id}`;
  }
}

/** @param timestamp RFC 3339 with six decimals */
const readMicros = (timestamp: string): number =>
  Date.parse(`${timestamp.slice(0, 19)}Z`) * 1_000 + Number(timestamp.slice(20, 26));
