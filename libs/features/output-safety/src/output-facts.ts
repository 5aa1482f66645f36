import { limits, type JobResult } from '@svc/contract';
import type { Kernel, OutputCheckRequest, OutputVerdict } from '@svc/kernel-client';
import type { JobRecord, OutputSafetyRecord } from '@svc/store';
import type { OutputSafetyDeps } from './output-safety-deps';

const readTries = 6;
const readPauseMs = 100;

/** A worker may have said it is done a moment before its result is visible; after a few tries it is missing. */
export async function readBody(deps: OutputSafetyDeps, pointer: string): Promise<{ body: Buffer; sizeBytes: number }> {
  for (let tries = 1; ; tries++) {
    const found = await deps.store.data.read(pointer, limits.scanMostBytes);
    if (found) return found;
    if (tries === readTries) throw new Error('the result is not there');
    await new Promise((resolve) => setTimeout(resolve, readPauseMs));
  }
}

export type ResultFacts = Pick<
  JobResult,
  'result_ptr' | 'error_message' | 'error_code' | 'worker_id' | 'execution_ms' | 'artifact_ptrs'
>;

/** What an answer brings to be checked. */
export interface Brought {
  sizeBytes: number;
  /** There is something to scan, though it may not be visible yet. */
  hasBody: boolean;
  /** The whole body, when it is small. */
  body?: Buffer;
}

/** What output policy is asked about a result; without `output_content` only its metadata. */
export const question = (job: JobRecord, result: ResultFacts, sizeBytes: number) => ({
  job_id: job.id,
  topic: job.topic,
  tenant: job.tenant,
  labels: job.request.labels,
  result_ptr: result.result_ptr,
  artifact_ptrs: [...result.artifact_ptrs],
  error_message: result.error_message,
  error_code: result.error_code,
  worker_id: result.worker_id,
  execution_ms: result.execution_ms,
  output_size_bytes: sizeBytes,
  capabilities: job.request.capability ? [job.request.capability] : [],
  risk_tags: job.request.risk_tags,
  principal_id: job.request.principal_id,
  pack_id: job.request.pack_id ?? '',
});

/** The kernel with each of its answers about outputs reported. */
export function measured({ kernel, clock, events }: OutputSafetyDeps): Pick<Kernel, 'checkOutput'> {
  return {
    async checkOutput(asked: OutputCheckRequest) {
      const startedUs = clock.nowUs();
      const verdict = await kernel.checkOutput(asked);
      events.outputEvaluated(asked.topic, verdict.decision, (clock.nowUs() - startedUs) / 1_000);
      return verdict;
    },
  };
}

/** A verdict as it is kept with the job. */
export const safety = (
  deps: OutputSafetyDeps,
  startedUs: number,
  phase: 'sync' | 'async',
  verdict: Pick<OutputVerdict, 'decision' | 'reason' | 'rule_id' | 'policy_snapshot' | 'findings'>,
): OutputSafetyRecord => ({
  decision: verdict.decision,
  reason: verdict.reason,
  rule_id: verdict.rule_id,
  policy_snapshot: verdict.policy_snapshot,
  findings: recordedFindings(verdict.findings),
  phase,
  checked_at: deps.clock.nowUs(),
  check_duration_ms: (deps.clock.nowUs() - startedUs) / 1_000,
});

/** The seed's `pattern` is emitted beside the contract's `matched_pattern`. */
export const recordedFindings = (findings: OutputVerdict['findings']): OutputSafetyRecord['findings'] =>
  findings.map((finding) => ({ ...finding, pattern: finding.matched_pattern }));
