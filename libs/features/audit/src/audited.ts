import { AppError, type AuditAct } from '@svc/contract';
import type { ApiEnv, auditMetrics, Boot, Handles } from '@svc/runtime';
import { withAct, type OpenAct, type Store } from '@svc/store';

export interface AuditedDeps extends Pick<Boot<Pick<ApiEnv, 'auditChainFail'>>, 'env' | 'log'> {
  store: Pick<Store, 'audit'>;
  metrics: Pick<Handles<typeof auditMetrics>, 'auditFailures'>;
}

/**
 * Runs requests and records their acts. A change is recorded by the script that makes it; what no script has recorded is added
 * to the outbox before the response. Reads are recorded if they are marked as sensitive, in the chain of the owner too; refused
 * ones in that of the caller only.
 *
 * @returns throws store_unavailable for an act that cannot be recorded, with SVC_AUDIT_CHAIN_FAIL=closed
 */
export function auditedBy({ env, log, store, metrics }: AuditedDeps) {
  const record = async (tenant: string, act: AuditAct): Promise<void> => {
    await store.audit.record(tenant, act).catch((error: unknown) => {
      metrics.auditFailures.inc({ reason: 'unrecorded' });
      log.error('an act was not recorded in the audit chain', { error, action: act.action, tenant });
      if (env.auditChainFail === 'closed') throw new AppError('store_unavailable', {}, { 'Retry-After': '2' });
    });
  };
  const recordRead = async ({ tenant, act, readsOf }: OpenAct, refusal?: AppError): Promise<void> => {
    if (readsOf === undefined) return;
    // A refused caller must not be able to add events to the chain of another tenant.
    if (refusal) return record(tenant, { ...act, decision: 'deny', reason: refusal.errorCode });
    for (const chain of new Set([tenant, readsOf])) await record(chain, act);
  };
  return async <T>(tenant: string, act: AuditAct, request: () => Promise<T>): Promise<T> => {
    const opened: OpenAct = { tenant, act, isRecorded: false };
    if (act.event_type !== 'governance.read') {
      const result = await withAct(opened, request);
      if (!opened.isRecorded) await record(tenant, opened.act);
      return result;
    }
    const result = await withAct(opened, request).catch(async (error: unknown) => {
      if (error instanceof AppError) await recordRead(opened, error);
      throw error;
    });
    await recordRead(opened);
    return result;
  };
}
