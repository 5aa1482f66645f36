import { AppError, type EvalEntry, type EvalInput, type PolicyRequestBody } from '@svc/contract';
import type { PolicyTrial } from '@svc/kernel-client';
import { type EntryOutcome, isStricter, type PolicyDecision } from '@svc/policy';
import { policyPart } from '@svc/decision';
import { askKernel, policyQuestion } from '@svc/policy-lab';
import { setImmediate } from 'node:timers/promises';
import type { ExecuteDeps } from './eval-deps';
import type { ChosenPolicy, PolicyOutcomes } from './run.repository';

/** Entries evaluated between two turns of the event loop, so that other work of the process is not delayed. */
const chunkSize = 32;
/** A policy that changes more often than this ends the run. */
const MAX_ROUNDS = 3;
/** Windows of the past are gone, and a dataset has no content to scan. */
const without = ['velocity', 'content'] as const;

type Evaluated = { snapshot: string; outcome: EntryOutcome };
type Failed = { error: unknown };

/**
 * Evaluates a policy on entries. All outcomes are of one snapshot: when the policy changes, the entries evaluated before are
 * evaluated again. Nothing is counted or recorded.
 *
 * @param onProgress called with the number of evaluated entries; false ends the evaluation
 * @returns undefined when it was ended
 * @throws safety_unavailable, upstream_service_error, eval_run_conflict when the policy keeps changing
 */
export async function evaluateEntries(
  deps: Pick<ExecuteDeps, 'kernel' | 'config' | 'topics' | 'agents'>,
  tenant: string,
  entries: readonly Pick<EvalEntry, 'input'>[],
  { candidate }: Pick<ChosenPolicy, 'candidate'>,
  onProgress: (evaluated: number) => Promise<boolean> = () => Promise.resolve(true),
): Promise<PolicyOutcomes | undefined> {
  const trial = { without, ...(candidate && { candidate }) };
  const results: Evaluated[] = [];
  let snapshot = '';
  let pending = [...entries.keys()];
  for (let round = 0; round < MAX_ROUNDS && pending.length > 0; round++) {
    for (let i = 0; i < pending.length; i += chunkSize) {
      const chunk = pending.slice(i, i + chunkSize);
      const evaluated = await evaluateChunk(deps, tenant, chunk.map((at) => entries[at]?.input), trial); // prettier-ignore
      for (const [j, result] of evaluated.entries()) {
        results[chunk[j] ?? 0] = result;
        snapshot = result.snapshot || snapshot;
      }
      await setImmediate();
      if (!(await onProgress(entries.length - pending.length + i + chunk.length))) return undefined;
    }
    pending = [...entries.keys()].filter((at) => results[at]?.snapshot !== '' && results[at]?.snapshot !== snapshot);
  }
  if (pending.length > 0) {
    throw new AppError('eval_run_conflict', { error: 'the policy changed several times during the run; try again' });
  }
  return { snapshot, outcomes: results.map(({ outcome }) => outcome) };
}

/** @throws safety_unavailable, upstream_service_error when no entry was evaluated, and the faults of a candidate */
async function evaluateChunk(
  deps: Parameters<typeof evaluateEntries>[0],
  tenant: string,
  inputs: readonly (EvalInput | undefined)[],
  trial: PolicyTrial,
): Promise<Evaluated[]> {
  const evaluated = await Promise.all(
    inputs.map((input): Promise<Evaluated | Failed> =>
      evaluateEntry(deps, tenant, input ?? { topic: '' }, trial).catch((error: unknown) => ({ error })),
    ),
  );
  const isFailed = (result: Evaluated | Failed): result is Failed => 'error' in result;
  const failed = evaluated.filter(isFailed);
  if (failed[0] && failed.length === evaluated.length) throw failed[0].error;
  return evaluated.map((result) => {
    if (!isFailed(result)) return result;
    const error = result.error instanceof AppError ? result.error.message : 'the evaluation failed';
    return { snapshot: '', outcome: { kind: 'failed', error } };
  });
}

/** The strictest decision of the capabilities of an entry: a job has one. */
async function evaluateEntry(
  deps: Parameters<typeof evaluateEntries>[0],
  tenant: string,
  input: EvalInput,
  trial: PolicyTrial,
): Promise<Evaluated> {
  let strictest: PolicyDecision | undefined;
  for (const capability of listCapabilities(input)) {
    const request = await policyQuestion(deps, { tenant, scope: tenant }, toRequest(input, capability));
    const decision = await askKernel(() => deps.kernel.simulate(request, trial));
    if (!strictest || isStricter(decision.decision, strictest.decision)) strictest = decision;
  }
  if (!strictest) throw new Error('an entry has at least one question');
  const { decision: verdict, rule_id: ruleId, reason, policy_snapshot } = strictest;
  return { snapshot: policyPart(policy_snapshot), outcome: { kind: 'decided', verdict, ruleId, reason } };
}

const listCapabilities = ({ capability, capabilities = [] }: EvalInput): (string | undefined)[] => {
  const all = new Set([...(capability ? [capability] : []), ...capabilities]);
  return all.size > 0 ? [...all] : [undefined];
};

/** The question that a submission with these fields would ask, in the body of the evaluation routes. */
function toRequest(input: EvalInput, capability: string | undefined): PolicyRequestBody {
  const { topic, agent_id, principal_id, risk_tags = [], requires = [], labels = {}, metadata, pack_id } = input;
  return {
    topic,
    labels: { ...labels, ...(agent_id && { agent_id }) },
    ...(principal_id && { principal_id }),
    meta: {
      risk_tags,
      requires,
      labels: {},
      ...(principal_id && { actor_id: principal_id }),
      ...(capability && { capability }),
      ...(pack_id && { pack_id }),
    },
    ...(metadata && { input_content: JSON.stringify(metadata) }),
  };
}
