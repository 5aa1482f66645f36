import { openOfflineKernel, type Scanners } from '@svc/kernel-client';
import { isStricter, type Policy, type PolicyDecision } from '@svc/policy';
import type { RecordedRequest } from '@svc/policy-lab';

export interface Change {
  job_id: string;
  topic: string;
  tenant: string;
  /** Under the old policy and the new one. */
  before: string;
  after: string;
  rule: string;
  reason: string;
  direction: 'stricter' | 'looser';
}

export interface Difference {
  decisions: number;
  changes: Change[];
  stricter: number;
  looser: number;
  /** Net change in decisions that require approval. */
  addedApprovals: number;
  /** Percentage of decisions that match no rule, under the new and the old policy. */
  uncovered: number;
  uncoveredBefore: number;
  /** Original decisions that differ from the old policy today, because windows, configuration or policy changed. */
  drifted: number;
  /** Failed evaluations. */
  failed: number;
}

const atOnce = 32;

/** Evaluates recorded requests under two policies. Velocity windows count as holding one request. */
export async function difference(
  policies: { before: Policy; after: Policy },
  scanners: Scanners,
  questions: readonly RecordedRequest[],
): Promise<Difference> {
  let failed = 0;
  const open = (policy: Policy) =>
    openOfflineKernel({ policy, scanners, count: () => 1, onError: () => void (failed += 1) });
  const [old, fresh] = [open(policies.before), open(policies.after)];
  const pairs: [RecordedRequest, PolicyDecision, PolicyDecision][] = [];
  try {
    for (let i = 0; i < questions.length; i += atOnce) {
      const asked = questions.slice(i, i + atOnce).map(async (question): Promise<(typeof pairs)[number]> => {
        const [was, is] = await Promise.all([old.simulate(question.request), fresh.simulate(question.request)]);
        return [question, was, is];
      });
      pairs.push(...(await Promise.all(asked)));
    }
  } finally {
    await Promise.all([old.close(), fresh.close()]);
  }
  const changes = pairs.flatMap(([{ request }, was, is]) =>
    was.decision === is.decision ? [] : [toChange(request, was, is)],
  );
  const share = (pick: (pair: (typeof pairs)[number]) => boolean) =>
    pairs.length === 0 ? 0 : (100 * pairs.filter(pick).length) / pairs.length;
  const held = (decisions: PolicyDecision[]) => decisions.filter(({ approval_required }) => approval_required).length;
  return {
    decisions: pairs.length,
    changes,
    stricter: changes.filter(({ direction }) => direction === 'stricter').length,
    looser: changes.filter(({ direction }) => direction === 'looser').length,
    addedApprovals: held(pairs.map(([, , is]) => is)) - held(pairs.map(([, was]) => was)),
    uncovered: share(([, , is]) => is.rule_id === ''),
    uncoveredBefore: share(([, was]) => was.rule_id === ''),
    drifted: pairs.filter(([question, was]) => question.decision !== was.decision).length,
    failed,
  };
}

const toChange = (request: RecordedRequest['request'], was: PolicyDecision, is: PolicyDecision): Change => ({
  job_id: request.job_id ?? '',
  topic: request.topic,
  tenant: request.tenant ?? '',
  before: was.decision,
  after: is.decision,
  rule: is.rule_id,
  reason: is.reason,
  direction: isStricter(is.decision, was.decision) ? 'stricter' : 'looser',
});

export interface Thresholds {
  /** Percent of the decisions. */
  changed: number;
  /** How many. */
  looser: number;
  approvals: number;
  /** Percent. */
  uncovered: number;
}

/** A message for each exceeded limit. */
export function passed(found: Difference, limits: Thresholds): string[] {
  const changed = found.decisions === 0 ? 0 : (100 * found.changes.length) / found.decisions;
  const over = (option: string, is: number, limit: number, unit = '') =>
    is > limit ? [`${option} is ${limit}${unit}, but the value is ${Number(is.toFixed(2))}${unit}`] : [];
  return [
    ...over('--max-changed', changed, limits.changed, ' %'),
    ...over('--max-looser', found.looser, limits.looser),
    ...over('--max-approvals', found.addedApprovals, limits.approvals),
    ...over('--max-uncovered', found.uncovered, limits.uncovered, ' %'),
  ];
}
