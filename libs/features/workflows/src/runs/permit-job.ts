import {
  askAboutJob,
  isFinalDecision,
  type LiveDecision,
  safetyFields,
  toConfigScope,
  toPolicyContent,
} from '@svc/decision';
import type { ProposedPlacement } from '@svc/jobs';
import { checkQueuedJob } from '@svc/registry';
import type { DecisionRecord, JobRecord } from '@svc/store';
import type { RunDeps } from './run-deps';

type PermitDeps = Pick<RunDeps, 'store' | 'clock' | 'config' | 'kernel' | 'topics' | 'placement'>;

/** The input document of a job, the same as JSON, and the time by Redis' clock. */
export interface PermitInput {
  document: Record<string, unknown>;
  context: string;
  nowUs: number;
}

/** A decision that permits a new job, and the place that the accepting call gives it. */
export interface Permit {
  decision: DecisionRecord;
  live: LiveDecision;
  /** Absent: the job goes to the queue of undecided jobs, with its decision. */
  proposal?: ProposedPlacement;
}

/**
 * Checks the topic of a new job of a run and asks policy, as the gateway does at submission. Undefined when the job is not
 * permitted, or when policy does not answer: the job goes to the queue, and the scheduler decides. See ADR 18.
 *
 * @param job as the accepting call will store it
 */
export async function permitJob(
  deps: PermitDeps,
  job: JobRecord,
  { document, context, nowUs }: PermitInput,
): Promise<Permit | undefined> {
  const { placement } = deps;
  if (!placement || (await checkQueuedJob(deps, job, document))) return undefined;
  // The decision must not appear to be later than the dispatch when the clock of this engine is wrong.
  const clock = { nowUs: () => nowUs };
  const answer = await askAboutJob({ ...deps, clock }, job, {
    method: 'evaluate',
    content: toPolicyContent(document),
    config: await deps.config.at(toConfigScope(job)),
  });
  if (answer.kind === 'unavailable' || isFinalDecision(answer.decision.decision)) return undefined;
  const { record: decision } = answer;
  const proposal = await placement.propose({
    record: { ...job, ...safetyFields(decision) },
    context,
    decision,
    config: await deps.config.at(toConfigScope(job, 'team')),
  });
  return { decision, live: answer, ...(proposal && { proposal }) };
}
