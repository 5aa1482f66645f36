import { AppError, type SubmitBody } from '@svc/contract';
import { fingerprint } from '@svc/json';

export interface SubmitOutcome {
  jobId: string;
  traceId: string;
  /** Reason for the approval, when one is required. */
  approvalReason?: string;
  /** Replayed from an earlier request with the same idempotency key. */
  replayed: boolean;
}

/** The stored response to the first request with an idempotency key. */
export interface StoredResponse {
  kind: 'accepted' | 'held' | 'denied';
  job_id: string;
  trace_id: string;
  reason?: string;
}

/**
 * SHA-256 over the validated body with sorted keys; identifies a repeated request.
 * See docs/reference/jobs.md#idempotency.
 */
export function requestFingerprint(body: SubmitBody): string {
  const { idempotency_key: _, ...rest } = body;
  return fingerprint(rest);
}

/**
 * Replays the response of the first request.
 *
 * @throws idempotency_conflict when the request differs; policy_denied when the first was denied
 */
export function replayResponse(
  kept: { hash: string; answer: string },
  requestHash: string,
  replayed = true,
): SubmitOutcome {
  if (kept.hash !== requestHash || kept.answer === '') throw new AppError('idempotency_conflict');
  const first = JSON.parse(kept.answer) as StoredResponse;
  if (first.kind === 'denied') {
    const extras = { ...(first.reason && { reason: first.reason }), job_id: first.job_id, trace_id: first.trace_id };
    throw new AppError('policy_denied', extras, { 'X-Trace-Id': first.trace_id });
  }
  return {
    jobId: first.job_id,
    traceId: first.trace_id,
    replayed,
    ...(first.kind === 'held' && { approvalReason: first.reason ?? '' }),
  };
}
