import { deadLetterStates, isTerminal, jobStates, initialStates, type JobEvent, type JobState } from '@svc/lifecycle';
import type { DecisionRecord } from '@svc/store';
import type { Dispatch, History, JobHistory, Violation } from './history';
import { runInvariants } from './run-invariants';
import { timersKeepTime } from './timer-invariants';

export type Checker = (history: History) => Violation[];

const violation = (invariant: string, jobId: string, text: string): Violation => ({ invariant, jobId, text });
const allow = new Set(['ALLOW', 'ALLOW_WITH_CONSTRAINTS']);

/** Every job that a client was told is accepted: submitted, or made by a retry. */
const acceptedIds = ({ calls }: History): string[] => [
  ...new Set(
    calls.flatMap((call) =>
      call.outcome !== 'ok' ? [] : call.act === 'submit' ? [call.jobId] : call.newJobId ? [call.newJobId] : [],
    ),
  ),
];

/** I1. No accepted job is lost: it can be read, and has ended or says what it waits for. */
export const nothingLost: Checker = (history) =>
  acceptedIds(history).flatMap((id) => {
    const record = history.jobs.get(id)?.record;
    if (!record) return [violation('I1', id, 'was accepted and has no record')];
    if (isTerminal(record.state) || history.mayWait.has(id) || record.waiting_reason) return [];
    return [violation('I1', id, `was accepted, stands in ${record.state} and does not say what it waits for`)];
  });

/** I2. One legal path: what was recorded is a walk along the declared table, with one end. */
export const oneLegalPath: Checker = ({ jobs }) =>
  [...jobs].flatMap(([id, { record, events }]) => {
    const fault = record ? faultOfPath(events, record.state) : undefined;
    return fault ? [violation('I2', id, fault)] : [];
  });

function faultOfPath(events: JobHistory['events'], last: JobState): string | undefined {
  const [birth, ...moves] = events;
  if (!birth || !initialStates.some((state) => state === birth.to)) return `was born ${birth?.to ?? 'without a word'}`;
  let state: JobState = birth.to;
  let atUs = birth.at;
  for (const { event, from, to, at } of moves) {
    if (from !== state) return `${event} left ${from}, and it was ${state}`;
    if (!isEvent(event) || jobStates.next(state, event) !== to) return `${event} led from ${state} to ${to}`;
    if (isTerminal(state) && to !== 'OUTPUT_QUARANTINED') return `went on to ${to} after its end in ${state}`;
    if (at < atUs) return `${event} came before the move before it`;
    [state, atUs] = [to, at];
  }
  return state === last ? undefined : `is ${last}, and its history ends in ${state}`;
}

const isEvent = (event: string): event is JobEvent => event in jobStates.moves;

/** I3. No dispatch without a verdict: an allowance or an approval of this very request, taken before it. */
export const noDispatchWithoutVerdict: Checker = ({ jobs, dispatches }) =>
  dispatches.flatMap((dispatch) => {
    const job = jobs.get(dispatch.jobId);
    if (!job?.record) return [violation('I3', dispatch.jobId, 'was dispatched and has no record')];
    return hasVerdict(job, dispatch)
      ? []
      : [violation('I3', dispatch.jobId, `attempt ${dispatch.attempt} has no verdict that was there before it`)];
  });

function hasVerdict({ record, decisions }: JobHistory, { jobHash, sentUs }: Dispatch): boolean {
  const isFor = (hash: string | undefined, snapshot: string | undefined) => hash === jobHash && Boolean(snapshot);
  const allowed = (decision: DecisionRecord) =>
    allow.has(decision.decision) &&
    // A decision of the gateway permits a dispatch only if the accepting call placed the job by it.
    (decision.source === 'scheduler' || record?.decided === 'submission') &&
    isFor(decision.job_hash, decision.policy_snapshot) &&
    decision.checked_at <= sentUs;
  if (decisions.some(allowed)) return true;
  const approval = record?.approval;
  return (
    approval?.status === 'approved' &&
    isFor(approval.job_hash, approval.policy_snapshot) &&
    (approval.resolved_at ?? Infinity) <= sentUs
  );
}

const conflictCodes = new Set([
  'approval_already_resolved', 'approval_not_actionable', 'approval_retryable_lock', 'approval_stale_request',
  'approval_stale_snapshot', 'approval_terminal_run',
]); // prettier-ignore

/** I4. An approval acts at most once: one resolution, one release, and conflicts are answered 409 with their code. */
export const approvalActsOnce: Checker = ({ jobs, calls }) => {
  const byJob = groupBy(
    calls.filter(({ act }) => act === 'approve' || act === 'reject'),
    ({ jobId }) => jobId,
  );
  return [...byJob].flatMap(([id, decided]) => {
    const faults: string[] = [];
    const acted = decided.filter(({ outcome, repeated }) => outcome === 'ok' && !repeated);
    if (acted.length > 1) faults.push(`${acted.length} callers were told that they decided`);
    if (new Set(decided.filter(({ outcome }) => outcome === 'ok').map(({ act }) => act)).size > 1) {
      faults.push('one caller was told it is approved, another that it is rejected');
    }
    for (const { outcome, status, code } of decided) {
      if (outcome === 'refused' && (status !== 409 || !conflictCodes.has(code))) {
        faults.push(`a conflict was answered ${status} ${code}`);
      }
    }
    const events = jobs.get(id)?.events ?? [];
    const resolved = events.filter(({ event, from }) => from === 'APPROVAL_REQUIRED' && event !== 'cancel').length;
    const held = events.filter(({ event }) => event === 'hold').length;
    if (resolved > held) faults.push(`was held ${held} times and resolved ${resolved} times`);
    if (acted.length === 1 && resolved === 0) faults.push('was decided, and nothing happened');
    return faults.map((text) => violation('I4', id, text));
  });
};

/**
 * I5. Stale attempts are powerless: the result that a job ends with was given by the worker that held it, for its last
 * dispatch, and every dispatch has its own move.
 */
export const staleIsPowerless: Checker = ({ jobs, dispatches, answers }) => {
  const answered = groupBy(answers, ({ jobId }) => jobId);
  const sent = groupBy(dispatches, ({ jobId }) => jobId);
  return [...jobs].flatMap(([id, { record, events }]) => {
    if (!record) return [];
    const faults: string[] = [];
    const own = record.output_safety?.original_ptr ?? record.result_ptr;
    const from = (answered.get(id) ?? []).find(({ resultPtr }) => resultPtr === own);
    if (from && (from.senderId !== record.worker_id || from.dispatchId !== record.dispatch_id)) {
      faults.push(
        `took the result of ${from.senderId} for dispatch ${from.dispatchId}; it was with ${record.worker_id} as ${record.dispatch_id}`,
      );
    }
    const ids = new Set((sent.get(id) ?? []).map(({ dispatchId }) => dispatchId));
    const given = events.filter(({ event }) => event === 'dispatch').length;
    if (ids.size > given) faults.push(`went out as ${ids.size} dispatches and was given out ${given} times`);
    return faults.map((text) => violation('I5', id, text));
  });
};

/** I6. Idempotency: one key with one body is one job and one answer; another body is a conflict. */
export const idempotent: Checker = ({ calls }) => {
  const byKey = groupBy(
    calls.filter(({ act, key }) => act === 'submit' && key !== undefined),
    ({ key }) => key ?? '',
  );
  return [...byKey].flatMap(([key, sent]) => {
    const accepted = sent.filter(({ outcome }) => outcome === 'ok');
    const ids = new Set(accepted.map(({ jobId }) => jobId));
    const bodies = new Set(accepted.map(({ body }) => body));
    const [id = ''] = ids;
    return [
      ...(ids.size > 1 ? [violation('I6', id, `key ${key} made ${ids.size} jobs: ${[...ids].join(', ')}`)] : []),
      ...(bodies.size > 1 ? [violation('I6', id, `key ${key} was accepted with ${bodies.size} bodies`)] : []),
      ...sent
        .filter(({ outcome, status }) => outcome === 'refused' && status === 409 && bodies.size === 0)
        .map(() => violation('I6', id, `key ${key} is a conflict and nothing was ever accepted under it`)),
    ];
  });
};

/** I9. Dead letters are complete: each failed or quarantined job that its run does not retry has its own, no other has one, each retry made one job. */
export const deadLettersComplete: Checker = ({ jobs, calls }) => {
  const retried = new Set(calls.filter(({ act }) => act === 'retry').map(({ jobId }) => jobId));
  const children = groupBy(
    [...jobs].filter(([, { record }]) => originOf(record) !== undefined),
    ([, { record }]) => originOf(record) ?? '',
  );
  return [...jobs].flatMap(([id, { record, deadLetter }]) => {
    if (!record) return [];
    const faults: string[] = [];
    const isDead = deadLetterStates.some((state) => state === record.state);
    // Its run retries it: only the final attempt has a letter.
    const isWithheld = record.letter === 'withheld' && record.run !== undefined;
    if (isDead && !deadLetter && !retried.has(id) && !isWithheld)
      faults.push(`is ${record.state} and has no dead letter`);
    if (!isDead && deadLetter && record.state !== 'CANCELLED') faults.push(`is ${record.state} and has a dead letter`);
    const made = children.get(id)?.length ?? 0;
    const wasDone = calls.some(({ act, jobId, outcome }) => act === 'retry' && jobId === id && outcome === 'ok');
    if (made > 1) faults.push(`one retry made ${made} jobs`);
    if (wasDone && made === 0) faults.push('was retried, and there is no new job');
    if (wasDone && deadLetter) faults.push('was retried, and still has its dead letter');
    return faults.map((text) => violation('I9', id, text));
  });
};

const originOf = (record: JobHistory['record']): string | undefined => record?.request.labels['retry_of_job'];

/** I15. Liveness: once the faults are over and the bound has passed, nothing stands still and nothing is left over. */
export const nothingStuck: Checker = ({ jobs, mayWait, left }) => [
  ...[...jobs].flatMap(([id, { record }]) =>
    !record || isTerminal(record.state) || mayWait.has(id)
      ? []
      : [violation('I15', id, `still stands in ${record.state} (${record.waiting_reason ?? 'no reason'})`)],
  ),
  ...Object.entries(left).flatMap(([what, count]) =>
    count > 0 ? [violation('I15', '', `${count} left over: ${what}`)] : [],
  ),
];

/**
 * Money adds up: what tenants have reserved is what their jobs still hold, and what they have spent is what those cost that
 * have ended. ADR 0011.
 */
export const moneyAddsUp: Checker = ({ jobs, money }) => {
  const byTenant = groupBy(
    [...jobs.values()].flatMap(({ record }) => record ?? []),
    ({ tenant }) => tenant,
  );
  return [...new Set([...byTenant.keys(), ...money.keys()])].flatMap((tenant) => {
    const own = byTenant.get(tenant) ?? [];
    const held = sumOf(own, ({ reserved }) => (reserved ? (JSON.parse(reserved) as { micros: number }).micros : 0));
    const cost = sumOf(own, ({ state, cost: micros = 0 }) => (isTerminal(state) ? micros : 0));
    const { spent, reserved } = money.get(tenant) ?? { spent: 0, reserved: 0 };
    return [
      ...(held === reserved ? [] : [violation('money', '', `${tenant} reserved ${reserved}, its jobs hold ${held}`)]),
      ...(cost === spent ? [] : [violation('money', '', `${tenant} spent ${spent}, its jobs cost ${cost}`)]),
    ];
  });
};

const sumOf = <T>(items: readonly T[], of: (item: T) => number): number => items.reduce((sum, one) => sum + of(one), 0);

export const invariants: readonly Checker[] = [
  nothingLost,
  oneLegalPath,
  noDispatchWithoutVerdict,
  approvalActsOnce,
  staleIsPowerless,
  idempotent,
  deadLettersComplete,
  nothingStuck,
  moneyAddsUp,
  ...runInvariants,
  timersKeepTime,
];

/** What of all this does not hold. */
export const violations = (history: History): Violation[] => invariants.flatMap((check) => check(history));

function groupBy<T>(items: readonly T[], keyOf: (item: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const item of items) {
    const group = groups.get(keyOf(item));
    if (group) group.push(item);
    else groups.set(keyOf(item), [item]);
  }
  return groups;
}
