import type { PolicyAuditEntry } from '@svc/contract';
import type { JobRecord, Store } from '@svc/store';

const newest = 500;

/**
 * Withheld results of a tenant, newest first, as entries of the policy audit.
 * See docs/reference/policy.md#audit.
 */
export async function outputFindings(
  { store }: { store: Pick<Store, 'index'> },
  tenant: string,
): Promise<PolicyAuditEntry[]> {
  const { items } = await store.index.page(tenant, { states: ['OUTPUT_QUARANTINED'] }, newest);
  const jobs = await store.index.records(items.map(({ id }) => id));
  return jobs.flatMap((job) => finding(job) ?? []);
}

function finding({ id, tenant, topic, output_safety }: JobRecord): PolicyAuditEntry | undefined {
  if (!output_safety) return undefined;
  const { rule_id, decision, reason, phase, checked_at, findings, policy_snapshot } = output_safety;
  const { original_ptr, redacted_ptr } = output_safety;
  return {
    id: `${id}:${checked_at}`,
    action: 'output_quarantine',
    resource_type: 'output',
    resource_id: id,
    resource_name: topic,
    tenant_id: tenant,
    // The service withheld it by itself; there is no actor.
    actor_id: '',
    role: '',
    auth_source: '',
    identity_source: '',
    identity_label: '',
    bundle_ids: [],
    message: '',
    reason,
    extra: {},
    created_at: new Date(Math.floor(checked_at / 1_000)).toISOString(),
    job_id: id,
    rule_id,
    decision,
    policy_version: policy_snapshot,
    phase,
    findings,
    ...(original_ptr && { original_ptr }),
    ...(redacted_ptr && { redacted_ptr }),
  };
}
