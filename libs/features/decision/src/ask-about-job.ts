import type { Kernel } from '@svc/kernel-client';
import type { Clock } from '@svc/platform';
import type { PolicyDecision } from '@svc/policy';
import { type TopicDeps, loadRiskTagDeriver } from '@svc/registry';
import { withTimeout } from '@svc/runtime';
import { failMode, type FailMode } from '@svc/settings';
import type { DecisionRecord, JobRecord } from '@svc/store';
import { toDecisionRecord } from './decision-record';
import { requestHash } from './job-packet';
import type { LiveDecision } from './live-decision';
import { buildPolicyRequest, priorPermit, type RequestedJob } from './policy-request';

export interface DecisionDeps {
  kernel: Pick<Kernel, 'evaluate' | 'check' | 'simulate'>;
  topics: Pick<TopicDeps, 'registry'>;
  clock: Pick<Clock, 'nowUs'>;
}

/** A job as policy is asked about it: new, or as it is stored with its last decision. */
export type AskedJob = RequestedJob & Partial<Pick<JobRecord, 'safety' | 'job_hash'>>;

export interface JobQuestion {
  /**
   * evaluate: at submission; check: before dispatch, which counts a job once in velocity windows though it is asked about
   * twice; simulate: counts nothing.
   */
  method: 'evaluate' | 'check' | 'simulate';
  /** The input as content rules read it: see `toPolicyContent`. */
  content: string;
  /** Effective config of the job's scope. */
  config: Record<string, unknown> | undefined;
  /** Default of the installation, which a tenant's config may override. Absent: always closed. */
  failMode?: FailMode;
}

/** A decision with the request it answers and the record to store with the job. */
export interface DecidedJob extends LiveDecision {
  kind: 'decided';
  record: DecisionRecord;
}

export type JobDecision = (DecidedJob | { kind: 'unavailable'; error: Error }) & { failMode: FailMode };

const timeoutMs = { evaluate: 5_000, check: 3_000, simulate: 5_000 } as const;

/**
 * Asks policy about a job: builds the request, adds the risk tag rules of the topic, and asks within a time limit. A denial
 * is a decision; `unavailable` means a timeout or an error. See docs/reference/policy.md#evaluation.
 */
export async function askAboutJob(deps: DecisionDeps, job: AskedJob, question: JobQuestion): Promise<JobDecision> {
  const { method, content, config } = question;
  const mode = question.failMode ? failMode(config, 'input_fail_mode', question.failMode) : 'closed';
  const request = {
    ...buildPolicyRequest(job, content, config),
    ...(await loadRiskTagDeriver(deps.topics, job.tenant, job.topic)),
    ...priorPermit(job),
  };
  const answer = await answerWithin(() => deps.kernel[method](request), timeoutMs[method]);
  if (answer.kind === 'unavailable') return { ...answer, failMode: mode };
  const source = method === 'check' ? 'scheduler' : 'gateway';
  const record = toDecisionRecord(answer.decision, job.job_hash ?? requestHash(job), source, deps.clock.nowUs());
  return { kind: 'decided', request, decision: answer.decision, record, failMode: mode };
}

export type PolicyAnswer = { kind: 'decided'; decision: PolicyDecision } | { kind: 'unavailable'; error: Error };

/** Awaits an answer of the kernel for a limited time. Never throws. */
export async function answerWithin(ask: () => Promise<PolicyDecision>, timeoutMs: number): Promise<PolicyAnswer> {
  const timeoutError = () => new Error(`no answer from policy within ${timeoutMs} ms`);
  try {
    return { kind: 'decided', decision: await withTimeout(ask(), timeoutMs, timeoutError) };
  } catch (error) {
    return { kind: 'unavailable', error: error instanceof Error ? error : new Error(String(error)) };
  }
}
