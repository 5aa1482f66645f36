import { AppError, type Caller } from '@svc/contract';
import type { RemediationRecord, StoredRequest } from '@svc/store';
import { joinIdentities } from '@svc/identity';
import { findJob } from './read-jobs';
import { inheritedLabels, resubmit, type ResubmitDeps } from './resubmit';

/**
 * Submits a job again with a remediation that policy proposed when it denied the job. See docs/reference/jobs.md#remediations.
 *
 * @param remediationId may be omitted when there is only one
 * @throws job_not_found, tenant_access_denied, no_remediations_available, remediation_id_required, remediation_not_found
 */
export async function remediateJob(
  deps: ResubmitDeps,
  caller: Caller,
  id: string,
  remediationId: string | undefined,
): Promise<{ jobId: string; traceId: string }> {
  const original = await findJob(deps, caller.scope, id);
  const chosen = choose(original.safety?.remediations ?? [], remediationId);
  const jobId = deps.random.uuid();
  await resubmit(deps, original, {
    id: jobId,
    traceId: original.trace_id,
    tenant: original.tenant,
    request: remedied(original.request, original.id, chosen),
    // Policy sees the content of the original submitter.
    submitter: joinIdentities(caller.submitterId, original.submitter, original.author),
    deadlineMs: original.request.deadline_ms > 0 ? deps.clock.nowMs() + original.request.deadline_ms : 0,
  });
  return { jobId, traceId: original.trace_id };
}

function choose(remediations: readonly RemediationRecord[], id: string | undefined): RemediationRecord {
  if (remediations.length === 0) throw new AppError('no_remediations_available');
  if (!id && remediations.length > 1) {
    throw new AppError('remediation_id_required', { remediations: remediations.map((entry) => entry.id) });
  }
  const found = id ? remediations.find((entry) => entry.id === id) : remediations[0];
  if (!found) throw new AppError('remediation_not_found');
  return found;
}

function remedied(request: StoredRequest, originalId: string, remediation: RemediationRecord): StoredRequest {
  const { idempotency_key: _, ...rest } = request;
  const removed = new Set(remediation.remove_labels ?? []);
  const labels = {
    ...inheritedLabels(request.labels),
    remediation_of: originalId,
    remediation_id: remediation.id,
    ...remediation.add_labels,
  };
  return {
    ...rest,
    topic: remediation.replacement_topic || request.topic,
    ...(remediation.replacement_capability && { capability: remediation.replacement_capability }),
    labels: Object.fromEntries(Object.entries(labels).filter(([label]) => !removed.has(label))),
    parent_job_id: originalId,
  };
}
