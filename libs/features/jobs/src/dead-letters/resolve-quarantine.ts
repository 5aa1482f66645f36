import { AppError, type Caller, isOwnResult } from '@svc/contract';
import type { JobRecord, OutputSafetyRecord, Store } from '@svc/store';
import type { Base } from '@svc/platform';
import { auditEntry } from '@svc/audit';

export interface QuarantineDeps extends Base {
  store: Store;
}

type Quarantined = JobRecord & { output_safety: OutputSafetyRecord };

const isQuarantined = (job: JobRecord | undefined): job is Quarantined =>
  job?.state === 'OUTPUT_QUARANTINED' && job.output_safety !== undefined;

/**
 * Makes the output of a quarantined job readable without running the job again: its state stays, its result is the
 * original. Of concurrent calls one succeeds; the others find no dead letter.
 * See docs/reference/jobs.md#dead-letters.
 *
 * @returns pointer of the original
 * @throws dlq_entry_not_found, tenant_access_denied, output_not_releasable, output_expired
 */
export async function releaseQuarantine(
  deps: QuarantineDeps,
  caller: Caller,
  id: string,
  reason: string,
): Promise<{ job_id: string; result_ptr: string }> {
  const { store, clock } = deps;
  const letter = await store.deadLetters.get(caller.scope, id);
  if (letter === undefined) throw new AppError('dlq_entry_not_found');
  if (letter === 'other_tenant') throw new AppError('tenant_access_denied');
  const job = await store.jobs.load(id);
  if (!job) throw new AppError('dlq_entry_not_found');
  const pointer = job.output_safety?.original_ptr;
  if (!isQuarantined(job) || !pointer) throw new AppError('output_not_releasable');

  const settled = await store.deadLetters.settleQuarantine(job, {
    verdict: {
      ...job.output_safety,
      released_at: clock.nowUs(),
      released_by: caller.principalId,
      release_reason: reason,
    },
    resultPtr: pointer,
    ...(isOwnResult(id, pointer) && { mustExist: pointer }),
    audit: buildAudit(deps, caller, job, 'output_release', reason),
  });
  switch (settled) {
    case 'settled':
      return { job_id: id, result_ptr: pointer };
    case 'expired':
      throw new AppError('output_expired');
    case 'absent':
    case 'changed':
      // Another call resolved it since the read, and its dead letter is gone.
      throw new AppError('dlq_entry_not_found');
  }
}

/**
 * Removes the dead letter of a quarantined output and records on the job who confirmed the quarantine.
 *
 * @returns false when there was no such output; then nothing is written
 */
export async function confirmQuarantine(deps: QuarantineDeps, caller: Caller, id: string): Promise<boolean> {
  const { store, clock } = deps;
  const job = await store.jobs.load(id);
  if (!isQuarantined(job)) return false;
  const settled = await store.deadLetters.settleQuarantine(job, {
    verdict: { ...job.output_safety, confirmed_at: clock.nowUs(), confirmed_by: caller.principalId },
    audit: buildAudit(deps, caller, job, 'output_confirm', ''),
  });
  // A concurrent change is not confirmed by this call; a remaining dead letter is removed regardless.
  return settled === 'settled' || settled === 'absent';
}

function buildAudit(
  deps: QuarantineDeps,
  caller: Caller,
  { id, tenant, topic, output_safety: verdict }: Quarantined,
  action: 'output_release' | 'output_confirm',
  message: string,
): string {
  const { rule_id, decision, reason, phase, policy_snapshot, original_ptr, redacted_ptr } = verdict;
  const entry = auditEntry(
    deps,
    // Callers with access to all tenants act for this job's tenant.
    { ...caller, tenant },
    {
      action,
      resource_type: 'output',
      resource_id: id,
      resource_name: topic,
      message,
      reason,
      job_id: id,
      rule_id,
      decision,
      policy_version: policy_snapshot,
      phase,
      ...(original_ptr && { original_ptr }),
      ...(redacted_ptr && { redacted_ptr }),
    },
  );
  return JSON.stringify(entry);
}
