import { deadLetterStates, isTerminal, jobStates, initialStates, type JobEvent, type JobState } from '@svc/lifecycle';
import type { DecisionRecord } from '@svc/store';
import { describeTransition, type Dispatch, type History, type JobHistory, type Violation } from './history';
import { runInvariants } from './run-invariants';
import { timersKeepTime } from './timer-invariants';

export type Checker = (history: History) => Violation[];

const violation = (invariant: string, jobId: string, text: string): Violation => ({ invariant, jobId, text });
const allow = new Set(['ALLOW', 'ALLOW_WITH_CONSTRAINTS']);

/** Jobs whose submission or retry was acknowledged to a client. */
const listAcceptedIds = ({ calls }: History): string[] => [
  ...new Set(
    calls.flatMap((call) =>
      call.outcome !== 'ok' ? [] : call.act === 'submit' ? [call.jobId] : call.newJobId ? [call.newJobId] : [],
    ),
  ),
];

/** I1. No accepted job is lost: it has a record, and has ended or has a waiting reason. */
export const nothingLost: Checker = (history) =>
  listAcceptedIds(history).flatMap((id) => {
    const record = history.jobs.get(id)?.record;
    if (!record) return [violation('I1', id, 'was accepted and has no record')];
    if (isTerminal(record.state) || history.mayWait.has(id) || record.waiting_reason) return [];
    return [violation('I1', id, `was accepted, is in ${record.state} and has no waiting reason`)];
  });

/** I2. One legal path: the recorded transitions follow the declared table and end once. */
export const oneLegalPath: Checker = ({ jobs }) =>
  [...jobs].flatMap(([id, { record, events }]) => {
    const fault = record ? checkPath(events, record.state) : undefined;
    return fault ? [violation('I2', id, fault)] : [];
  });

function checkPath(events: JobHistory['events'], last: JobState): string | undefined {
  const [first, ...moves] = events;
  if (!first || !initialStates.some((state) => state === first.to)) return `started in ${first?.to ?? 'no state'}`;
  let state: JobState = first.to;
  let atUs = first.at;
  for (const { event, from, to, at } of moves) {
    if (from !== state) return `${event} left ${from}, but the job was ${state}`;
    if (!isEvent(event) || jobStates.next(state, event) !== to) return `${event} led from ${state} to ${to}`;
    if (isTerminal(state) && to !== 'OUTPUT_QUARANTINED') return `moved to ${to} after its end in ${state}`;
    if (at < atUs) return `${event} is older than the transition before it`;
    [state, atUs] = [to, at];
  }
  return state === last ? undefined : `is ${last}, and its history ends in ${state}`;
}

const isEvent = (event: string): event is JobEvent => event in jobStates.moves;

/** I3. No dispatch without a decision: an allow or an approval of exactly this request, made before the dispatch. */
export const noDispatchWithoutDecision: Checker = ({ jobs, dispatches }) =>
  dispatches.flatMap((dispatch) => {
    const job = jobs.get(dispatch.jobId);
    if (!job?.record) return [violation('I3', dispatch.jobId, 'was dispatched and has no record')];
    return hasDecision(job, dispatch)
      ? []
      : [violation('I3', dispatch.jobId, `attempt ${dispatch.attempt} has no earlier decision`)];
  });

function hasDecision({ record, decisions, events }: JobHistory, { attempt, jobHash, sentUs }: Dispatch): boolean {
  // The time of the packet is that of its sender, whose clock may have jumped since.
  const dispatchedUs = findDispatch(events, attempt) ?? sentUs;
  const isFor = (hash: string | undefined, snapshot: string | undefined) => hash === jobHash && Boolean(snapshot);
  const allowed = (decision: DecisionRecord) =>
    allow.has(decision.decision) &&
    // A decision of the gateway permits a dispatch only if the accepting call placed the job by it.
    (decision.source === 'scheduler' || record?.decided === 'submission') &&
    isFor(decision.job_hash, decision.policy_snapshot) &&
    decision.checked_at <= dispatchedUs;
  if (decisions.some(allowed)) return true;
  const approval = record?.approval;
  return (
    approval?.status === 'approved' &&
    isFor(approval.job_hash, approval.policy_snapshot) &&
    (approval.resolved_at ?? Infinity) <= dispatchedUs
  );
}

/** When an attempt was dispatched, by Redis' clock. A dispatch that was rolled back is repeated as the same attempt. */
function findDispatch(events: JobHistory['events'], attempt: number): number | undefined {
  const attempts = events.filter(({ event }, i) => event === 'dispatch' && events[i - 1]?.event !== 'rollBack');
  return attempts[attempt - 1]?.at;
}

const conflictCodes = new Set([
  'approval_already_resolved', 'approval_not_actionable', 'approval_retryable_lock', 'approval_stale_request',
  'approval_stale_snapshot', 'approval_terminal_run',
]); // prettier-ignore

/** I4. An approval takes effect at most once: one resolution, one release, and 409 with a code for conflicts. */
export const approvalActsOnce: Checker = ({ jobs, calls }) => {
  const byJob = groupBy(
    calls.filter(({ act }) => act === 'approve' || act === 'reject'),
    ({ jobId }) => jobId,
  );
  return [...byJob].flatMap(([id, decided]) => {
    const faults: string[] = [];
    const acted = decided.filter(({ outcome, repeated }) => outcome === 'ok' && !repeated);
    if (acted.length > 1) faults.push(`${acted.length} callers got a first resolution`);
    if (new Set(decided.filter(({ outcome }) => outcome === 'ok').map(({ act }) => act)).size > 1) {
      faults.push('responses say both approved and rejected');
    }
    for (const { outcome, status, code } of decided) {
      if (outcome === 'refused' && (status !== 409 || !conflictCodes.has(code))) {
        faults.push(`a conflict returned ${status} ${code}`);
      }
    }
    const events = jobs.get(id)?.events ?? [];
    const resolved = events.filter(({ event, from }) => from === 'APPROVAL_REQUIRED' && event !== 'cancel').length;
    const held = events.filter(({ event }) => event === 'hold').length;
    if (resolved > held) faults.push(`was held ${held} times and resolved ${resolved} times`);
    if (acted.length === 1 && resolved === 0) faults.push('was resolved without effect');
    return faults.map((text) => violation('I4', id, text));
  });
};

/**
 * I5. Stale attempts have no effect: the result of a job is that of its assigned worker for its last dispatch, and each
 * dispatch has its own transition.
 */
export const staleAttemptsIgnored: Checker = ({ jobs, dispatches, answers }) => {
  const answered = groupBy(answers, ({ jobId }) => jobId);
  const sent = groupBy(dispatches, ({ jobId }) => jobId);
  return [...jobs].flatMap(([id, { record, events }]) => {
    if (!record) return [];
    const faults: string[] = [];
    const own = record.output_safety?.original_ptr ?? record.result_ptr;
    const from = (answered.get(id) ?? []).find(({ resultPtr }) => resultPtr === own);
    if (from && (from.senderId !== record.worker_id || from.dispatchId !== record.dispatch_id)) {
      faults.push(
        `has the result of ${from.senderId} for dispatch ${from.dispatchId}; it was assigned to ${record.worker_id} as ${record.dispatch_id}`,
      );
    }
    const ids = new Set((sent.get(id) ?? []).map(({ dispatchId }) => dispatchId));
    const given = events.filter(({ event }) => event === 'dispatch').length;
    if (ids.size > given) faults.push(`was sent as ${ids.size} dispatches and has ${given} dispatch transitions`);
    return faults.map((text) => violation('I5', id, text));
  });
};

/** I6. Idempotency: one key with one body gives one job and one response; another body is a conflict. */
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
      ...(ids.size > 1 ? [violation('I6', id, `key ${key} created ${ids.size} jobs: ${[...ids].join(', ')}`)] : []),
      ...(bodies.size > 1 ? [violation('I6', id, `key ${key} was accepted with ${bodies.size} bodies`)] : []),
      ...sent
        .filter(({ outcome, status }) => outcome === 'refused' && status === 409 && bodies.size === 0)
        .map(() => violation('I6', id, `key ${key} is a conflict, but no request with it was accepted`)),
    ];
  });
};

/** I9. Dead letters are complete: each failed or quarantined job that its run does not retry has one, no other job has, and each retry creates one job. */
export const deadLettersComplete: Checker = ({ jobs, calls }) => {
  const retried = new Set(calls.filter(({ act }) => act === 'retry').map(({ jobId }) => jobId));
  const children = groupBy(
    [...jobs].filter(([, { record }]) => getOrigin(record) !== undefined),
    ([, { record }]) => getOrigin(record) ?? '',
  );
  return [...jobs].flatMap(([id, { record, deadLetter }]) => {
    if (!record) return [];
    const faults: string[] = [];
    const isDead = deadLetterStates.some((state) => state === record.state);
    // Retried by its run: only the final attempt has a dead letter.
    const isWithheld = record.letter === 'withheld' && record.run !== undefined;
    if (isDead && !deadLetter && !retried.has(id) && !isWithheld)
      faults.push(`is ${record.state} and has no dead letter`);
    if (!isDead && deadLetter && record.state !== 'CANCELLED') faults.push(`is ${record.state} and has a dead letter`);
    const made = children.get(id)?.length ?? 0;
    const wasDone = calls.some(({ act, jobId, outcome }) => act === 'retry' && jobId === id && outcome === 'ok');
    if (made > 1) faults.push(`one retry created ${made} jobs`);
    if (wasDone && made === 0) faults.push('was retried, but has no new job');
    if (wasDone && deadLetter) faults.push('was retried, and still has its dead letter');
    return faults.map((text) => violation('I9', id, text));
  });
};

const getOrigin = (record: JobHistory['record']): string | undefined => record?.request.labels['retry_of_job'];

/** I15. Liveness: some time after the last fault every job has ended, and no reservation or queue entry remains. */
export const nothingStuck: Checker = ({ jobs, mayWait, left }) => [
  ...[...jobs].flatMap(([id, { record }]) =>
    !record || isTerminal(record.state) || mayWait.has(id)
      ? []
      : [violation('I15', id, `is still in ${record.state} (${record.waiting_reason ?? 'no reason'})`)],
  ),
  ...Object.entries(left).flatMap(([what, count]) =>
    count > 0 ? [violation('I15', '', `${count} left: ${what}`)] : [],
  ),
];

/**
 * Budgets add up: the reservations of a tenant equal those of its open jobs, and its spending equals the cost of its ended
 * jobs. ADR 0011.
 */
export const budgetsAddUp: Checker = ({ jobs, money }) => {
  const byTenant = groupBy(
    [...jobs.values()].flatMap(({ record }) => record ?? []),
    ({ tenant }) => tenant,
  );
  return [...new Set([...byTenant.keys(), ...money.keys()])].flatMap((tenant) => {
    const own = byTenant.get(tenant) ?? [];
    const held = sumBy(own, ({ reserved }) => (reserved ? (JSON.parse(reserved) as { micros: number }).micros : 0));
    const cost = sumBy(own, ({ state, cost: micros = 0 }) => (isTerminal(state) ? micros : 0));
    const { spent, reserved } = money.get(tenant) ?? { spent: 0, reserved: 0 };
    return [
      ...(held === reserved ? [] : [violation('money', '', `${tenant} reserved ${reserved}, its jobs hold ${held}`)]),
      ...(cost === spent ? [] : [violation('money', '', `${tenant} spent ${spent}, its jobs cost ${cost}`)]),
    ];
  });
};

const sumBy = <T>(items: readonly T[], value: (item: T) => number): number =>
  items.reduce((sum, item) => sum + value(item), 0);

/**
 * I7. The audit chains verify, and contain every transition of every job and run. RUNNING is written late, or not at all when a
 * job ends first; its event then is the end.
 */
export const auditComplete: Checker = ({ jobs, runs, audit }) => [
  ...[...audit].flatMap(([tenant, { status, gaps }]) =>
    status === 'compromised'
      ? [violation('I7', '', `the audit chain of ${tenant} is compromised: ${gaps.join(', ')}`)]
      : [],
  ),
  // One without a record is a fault of its own.
  ...[...jobs].flatMap(([id, { record, events }]) =>
    (record ? events : [])
      .filter(
        ({ event, to, at }) => event !== 'start' && !isAudited(audit, record?.tenant, describeTransition(id, to, at)),
      )
      .map(({ event, to }) => violation('I7', id, `${event} to ${to} is not in the audit chain`)),
  ),
  ...[...runs].flatMap(([id, { run }]) =>
    isAudited(audit, run.org_id, describeTransition(id, run.status))
      ? []
      : [violation('I7', id, `${run.status} is not in the audit chain`)],
  ),
];

const isAudited = (audit: History['audit'], tenant: string | undefined, transition: string): boolean =>
  audit.get(tenant ?? '')?.transitions.has(transition) ?? false;

export const invariants: readonly Checker[] = [
  auditComplete,
  nothingLost,
  oneLegalPath,
  noDispatchWithoutDecision,
  approvalActsOnce,
  staleAttemptsIgnored,
  idempotent,
  deadLettersComplete,
  nothingStuck,
  budgetsAddUp,
  ...runInvariants,
  timersKeepTime,
];

/** Violations of all invariants. */
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
