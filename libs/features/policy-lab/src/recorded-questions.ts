import type { PolicyDecision, PolicyRequest } from '@svc/policy';
import type { JobSummary, Store } from '@svc/store';
import type { EffectiveConfig } from '@svc/settings';
import { buildPolicyRequest, toConfigScope, toPolicyContent } from '@svc/decision';
import { readContent } from './replay-decisions';
import { decidedJobs, mapConcurrently } from './replay-jobs';

/** A decision about a job, and the policy request it was made for. */
export interface RecordedRequest {
  decision: PolicyDecision['decision'];
  rule_id: string;
  decided_at: string;
  request: PolicyRequest;
}

export interface RecordedQuestions {
  questions: RecordedRequest[];
  /** The range may contain more. */
  isCut: boolean;
  /** Number of jobs whose input is gone, so that rules on content cannot be evaluated. */
  withoutContent: number;
}

const atOnce = 16;

/**
 * Policy decisions since a time, of all tenants, newest first, in a form that can be evaluated again. The configuration is
 * the current one.
 *
 * @param most maximum number of decisions
 */
export async function readRecordedRequests(
  { store, config }: { store: Pick<Store, 'index' | 'data'>; config: Pick<EffectiveConfig, 'at'> },
  { fromMs, most }: { fromMs: number; most: number },
): Promise<RecordedQuestions> {
  const wasDecided = ({ safety }: JobSummary) =>
    safety !== undefined && safety.decision !== 'UNAVAILABLE' && safety.checked_at / 1_000 >= fromMs;
  const result: RecordedQuestions = { questions: [], isCut: false, withoutContent: 0 };
  for (const tenant of await store.index.tenants()) {
    const left = most - result.questions.length;
    const { jobs, isCut } = await decidedJobs(store, tenant, wasDecided, { fromMs, most: left });
    result.isCut ||= isCut;
    const asked = await mapConcurrently(jobs, atOnce, async (job) => {
      const reads = [readContent(store, job), config.at(toConfigScope(job, 'workflow'))] as const;
      const [content, effective] = await Promise.all(reads);
      if (content === undefined) result.withoutContent += 1;
      return toQuestion(job, buildPolicyRequest(job, content ?? toPolicyContent(null), effective));
    });
    result.questions.push(...asked.flat());
  }
  return result;
}

function toQuestion({ safety }: JobSummary, request: PolicyRequest): RecordedRequest[] {
  if (!safety || safety.decision === 'UNAVAILABLE') return [];
  const { decision, rule_id = '', checked_at } = safety;
  return [{ decision, rule_id, decided_at: new Date(checked_at / 1_000).toISOString(), request }];
}
