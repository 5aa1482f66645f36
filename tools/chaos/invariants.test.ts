import type { JobState } from '@svc/lifecycle';
import type { DecisionRecord, JobHistoryEntry, JobRecord } from '@svc/store';
import { describeTransition, type Answer, type Call, type Dispatch, type History, type JobHistory } from './history';
import { violations } from './invariants';

/** A valid job; each test breaks one thing. */
const events: JobHistoryEntry[] = [
  { event: 'submit', to: 'PENDING', at: 1 },
  { event: 'dispatch', from: 'PENDING', to: 'DISPATCHED', at: 2 },
  { event: 'start', from: 'DISPATCHED', to: 'RUNNING', at: 3 },
  { event: 'succeed', from: 'RUNNING', to: 'SUCCEEDED', at: 4 },
];
const request = { labels: {} } as JobRecord['request'];
const record = {
  id: 'j1', tenant: 'acme', state: 'SUCCEEDED', worker_id: 'w1', dispatch_id: 'd1', attempts: 1, result_ptr: 'p1', request,
} as JobRecord; // prettier-ignore
const allowed: DecisionRecord = {
  decision: 'ALLOW', source: 'scheduler', job_hash: 'h', policy_snapshot: 's', checked_at: 2,
}; // prettier-ignore
const sent: Dispatch = { jobId: 'j1', workerId: 'w1', dispatchId: 'd1', attempt: 1, sentUs: 20, jobHash: 'h' };
const answer: Answer = { jobId: 'j1', senderId: 'w1', workerId: 'w1', dispatchId: 'd1', resultPtr: 'p1' };
const submitted: Call = {
  act: 'submit', jobId: 'j1', key: 'k1', body: 'b1', outcome: 'ok', status: 200, code: '',
}; // prettier-ignore

const job = (over: Partial<JobHistory> = {}): JobHistory => ({
  record,
  events,
  decisions: [allowed],
  deadLetter: undefined,
  ...over,
});
const history = (over: Partial<History> = {}): History => ({
  calls: [submitted],
  jobs: new Map([['j1', job()]]),
  runs: new Map(),
  outages: [],
  dispatches: [sent],
  answers: [answer],
  mayWait: new Set(),
  money: new Map(),
  // Every job of the history, unless a test breaks this.
  audit: new Map([
    ['acme', { status: 'ok', gaps: [], transitions: transitionsIn(over.jobs ?? new Map([['j1', job()]])) }],
  ]),
  left: {},
  ...over,
});
const transitionsIn = (jobs: History['jobs']) =>
  new Set([...jobs].flatMap(([id, { events }]) => events.map(({ to, at }) => describeTransition(id, to, at))));
const withJob = (over: Partial<JobHistory>, more: Partial<History> = {}) =>
  history({ jobs: new Map([['j1', job(over)]]), ...more });
const inState = (state: JobState, over: Partial<JobRecord> = {}) => ({ ...record, state, ...over });
const faults = (broken: History) => violations(broken).map(({ invariant, text }) => `${invariant} ${text}`);
const letter = { job_id: 'j1', tenant: 'acme', created_at: '' };

it('accepts a valid history', () => {
  expect(violations(history())).toEqual([]);
});

describe('I1 nothing lost', () => {
  it('reports a job that was acknowledged and has no record', () => {
    expect(faults(withJob({ record: undefined }, { dispatches: [] }))).toEqual(['I1 was accepted and has no record']);
  });

  it('requires a reason from a waiting job', () => {
    const waiting = inState('PENDING');
    const path = events.slice(0, 1);

    expect(faults(withJob({ record: waiting, events: path }, { dispatches: [] }))).toContain(
      'I1 was accepted, is in PENDING and has no waiting reason',
    );
    const withReason = { ...waiting, waiting_reason: 'no_workers' };
    const mayWait = new Set(['j1']);
    expect(faults(withJob({ record: withReason, events: path }, { dispatches: [], mayWait }))).toEqual([]);
  });
});

describe('I2 one legal path', () => {
  it.each<[string, JobHistoryEntry[], JobState]>([
    ['succeed led from PENDING to DISPATCHED', [{ event: 'succeed', from: 'PENDING', to: 'DISPATCHED', at: 2 }], 'DISPATCHED'],
    ['start left DISPATCHED, but the job was PENDING', [{ event: 'start', from: 'DISPATCHED', to: 'RUNNING', at: 2 }], 'RUNNING'],
    ['cancel is older than the transition before it', [{ event: 'cancel', from: 'PENDING', to: 'CANCELLED', at: 0 }], 'CANCELLED'],
    ['is SUCCEEDED, and its history ends in CANCELLED', [{ event: 'cancel', from: 'PENDING', to: 'CANCELLED', at: 2 }], 'SUCCEEDED'],
  ])('reports: %s', (text, moves, state) => {
    const path = [...events.slice(0, 1), ...moves];

    expect(faults(withJob({ record: inState(state), events: path }, { dispatches: [] }))).toContain(`I2 ${text}`);
  }); // prettier-ignore

  it('reports a second end', () => {
    const twice: JobHistoryEntry[] = [...events, { event: 'succeed', from: 'SUCCEEDED', to: 'SUCCEEDED', at: 5 }];

    expect(faults(withJob({ events: twice }))).toEqual(['I2 succeed led from SUCCEEDED to SUCCEEDED']);
  });

  it('accepts the quarantine of a success', () => {
    const path: JobHistoryEntry[] = [...events, { event: 'quarantine', from: 'SUCCEEDED', to: 'OUTPUT_QUARANTINED', at: 5 }];

    expect(faults(withJob({ record: inState('OUTPUT_QUARANTINED'), events: path, deadLetter: letter }))).toEqual([]);
  }); // prettier-ignore
});

describe('I3 no dispatch without a decision', () => {
  const missing = 'I3 attempt 1 has no earlier decision';

  it.each<[string, DecisionRecord[]]>([
    ['none', []],
    ['a denial', [{ ...allowed, decision: 'DENY' }]],
    ['only a decision of the gateway', [{ ...allowed, source: 'gateway' }]],
    ['a decision on another request', [{ ...allowed, job_hash: 'other' }]],
    ['a decision without a policy', [{ ...allowed, policy_snapshot: '' }]],
    ['a later decision', [{ ...allowed, checked_at: 3 }]],
  ])('reports: %s', (_, decisions) => {
    expect(faults(withJob({ decisions }))).toEqual([missing]);
  });

  it('accepts the decision of the gateway for a job that was placed at submission', () => {
    const decisions: DecisionRecord[] = [{ ...allowed, source: 'gateway' }];

    expect(faults(withJob({ record: { ...record, decided: 'submission' }, decisions }))).toEqual([]);
  });

  it('accepts an approval of this request, and no other', () => {
    const approval = { status: 'approved', revision: 2, job_hash: 'h', policy_snapshot: 's', resolved_at: 2 } as const;
    const approved = (over: object) => withJob({ record: { ...record, approval: { ...approval, ...over } }, decisions: [] });

    expect(faults(approved({}))).toEqual([]);
    expect(faults(approved({ status: 'rejected' }))).toEqual([missing]);
    expect(faults(approved({ job_hash: 'other' }))).toEqual([missing]);
    expect(faults(approved({ resolved_at: 3 }))).toEqual([missing]);
  }); // prettier-ignore

  it('reports a dispatch of a job that does not exist', () => {
    expect(faults(history({ dispatches: [sent, { ...sent, jobId: 'ghost' }] }))).toEqual([
      'I3 was dispatched and has no record',
    ]);
  });
});

describe('I4 an approval takes effect once', () => {
  const approve: Call = { act: 'approve', jobId: 'j1', outcome: 'ok', status: 200, code: '' };
  const path: JobHistoryEntry[] = [
    { event: 'submit', to: 'PENDING', at: 1 },
    { event: 'hold', from: 'PENDING', to: 'APPROVAL_REQUIRED', at: 1 },
    { event: 'release', from: 'APPROVAL_REQUIRED', to: 'PENDING', at: 1 },
    ...events.slice(1),
  ];
  const decided = (calls: Call[], over: Partial<JobHistory> = {}) =>
    faults(withJob({ events: path, ...over }, { calls: [submitted, ...calls] }));

  it('accepts one resolution, a repeat, and a conflict with a code', () => {
    const lost: Call = {
      ...approve,
      act: 'reject',
      outcome: 'refused',
      status: 409,
      code: 'approval_already_resolved',
    };

    expect(decided([approve, { ...approve, repeated: true }, lost])).toEqual([]);
  });

  it('reports two first resolutions, contradicting responses, conflicts without a code and a resolution without effect', () => {
    expect(decided([approve, approve])).toEqual(['I4 2 callers got a first resolution']);
    expect(decided([approve, { ...approve, act: 'reject', repeated: true }])).toEqual([
      'I4 responses say both approved and rejected',
    ]);
    expect(decided([approve, { ...approve, outcome: 'refused', status: 500, code: 'internal_error' }])).toEqual([
      'I4 a conflict returned 500 internal_error',
    ]);
    expect(decided([approve], { events })).toEqual(['I4 was resolved without effect']);
  });
});

describe('I5 stale attempts have no effect', () => {
  it.each<[string, Partial<Answer>]>([
    ['another worker', { senderId: 'liar' }],
    ['an earlier dispatch', { dispatchId: 'd0' }],
  ])('reports a result of %s', (_, over) => {
    expect(faults(history({ answers: [{ ...answer, ...over }] }))).toEqual([
      expect.stringMatching(/^I5 has the result of /),
    ]);
  });

  it('checks the result of the worker, even when a redacted copy is shown', () => {
    const output_safety = { original_ptr: 'p1' } as NonNullable<JobRecord['output_safety']>;
    const redacted = { ...record, result_ptr: 'copy', output_safety };
    const answers = [{ ...answer, senderId: 'liar' }];

    expect(faults(withJob({ record: redacted }, { answers }))).toHaveLength(1);
  });

  it('reports a dispatch without a transition', () => {
    expect(faults(history({ dispatches: [sent, { ...sent, dispatchId: 'd2' }] }))).toEqual([
      'I5 was sent as 2 dispatches and has 1 dispatch transitions',
    ]);
  });
});

describe('I6 idempotency', () => {
  it('accepts a repeat with the same response, and a conflict for another body', () => {
    const conflict: Call = { ...submitted, body: 'b2', outcome: 'refused', status: 409, code: 'idempotency_conflict' };

    expect(faults(history({ calls: [submitted, submitted, conflict] }))).toEqual([]);
  });

  it('reports two jobs, two bodies, and a conflict without an accepted request', () => {
    const jobs = new Map([
      ['j1', job()],
      ['j2', job()],
    ]);
    const other = { ...submitted, jobId: 'j2' };
    expect(faults(history({ jobs, calls: [submitted, other] }))).toEqual(['I6 key k1 created 2 jobs: j1, j2']);
    expect(faults(history({ calls: [submitted, { ...submitted, body: 'b2' }] }))).toEqual([
      'I6 key k1 was accepted with 2 bodies',
    ]);
    const refused: Call = { ...submitted, outcome: 'refused', status: 409, code: 'idempotency_conflict' };
    expect(faults(history({ calls: [refused] }))).toEqual([
      'I6 key k1 is a conflict, but no request with it was accepted',
    ]);
  });
});

describe('I9 dead letters are complete', () => {
  const failed: JobHistoryEntry[] = [...events.slice(0, 3), { event: 'fail', from: 'RUNNING', to: 'FAILED', at: 4 }];
  const dead = { record: inState('FAILED'), events: failed };
  const retry: Call = { act: 'retry', jobId: 'j1', newJobId: 'j2', outcome: 'ok', status: 200, code: '' };
  const child = job({ record: { ...record, request: { ...request, labels: { retry_of_job: 'j1' } } } });

  it('reports a failure without a dead letter, and a success with one', () => {
    expect(faults(withJob({ ...dead, deadLetter: letter }))).toEqual([]);
    expect(faults(withJob(dead))).toEqual(['I9 is FAILED and has no dead letter']);
    expect(faults(withJob({ deadLetter: letter }))).toEqual(['I9 is SUCCEEDED and has a dead letter']);
  });

  it('accepts a failed attempt without one when its run retries it', () => {
    const attempt = { ...dead, record: { ...dead.record, letter: 'withheld' as const } };

    const missing = 'I9 is FAILED and has no dead letter';
    expect(faults(withJob({ ...attempt, record: { ...attempt.record, run: 'r1' } }))).not.toContain(missing);
    expect(faults(withJob(attempt))).toContain(missing);
  });

  it('requires exactly one new job per retry, and the removal of the dead letter', () => {
    const after = (jobs: Record<string, JobHistory>) =>
      faults(history({ calls: [submitted, retry], jobs: new Map(Object.entries(jobs)) }));

    expect(after({ j1: job(dead), j2: child })).toEqual([]);
    expect(after({ j1: job(dead), j2: child, j3: child })).toEqual(['I9 one retry created 2 jobs']);
    expect(after({ j1: job({ ...dead, deadLetter: letter }), j2: child })).toEqual([
      'I9 was retried, and still has its dead letter',
    ]);
    expect(after({ j1: job(dead), j2: job() })).toEqual(['I9 was retried, but has no new job']);
  });
});

describe('I7 the audit chain', () => {
  const chain = (over: object) => new Map([['acme', { ...history().audit.get('acme'), ...over } as never]]);

  it('reports a chain that does not verify', () => {
    expect(faults(history({ audit: chain({ status: 'compromised', gaps: ['missing at 4'] }) }))).toEqual([
      'I7 the audit chain of acme is compromised: missing at 4',
    ]);
  });

  it('reports a transition that it does not contain, and one at another time', () => {
    const known = [describeTransition('j1', 'PENDING', 1), describeTransition('j1', 'DISPATCHED', 5)];

    expect(faults(history({ audit: chain({ transitions: new Set(known) }) }))).toEqual([
      'I7 dispatch to DISPATCHED is not in the audit chain',
      'I7 succeed to SUCCEEDED is not in the audit chain',
    ]);
  });

  it('reports everything where there is no chain', () => {
    expect(faults(history({ audit: new Map() }))).toHaveLength(3);
  });
});

describe('I15 nothing is stuck', () => {
  it('reports jobs that have not ended, and leftovers', () => {
    const running = withJob({ record: inState('RUNNING', { waiting_reason: 'x' }), events: events.slice(0, 3) });

    expect(faults(running)).toEqual(['I15 is still in RUNNING (x)']);
    expect(faults(history({ left: { 'jobs in flight': 2, intents: 0 } }))).toEqual(['I15 2 left: jobs in flight']);
  });
});

describe('budgets add up', () => {
  const paid = (over: Partial<JobRecord>, money: { spent: number; reserved: number }) =>
    faults(withJob({ record: { ...record, ...over } }, { money: new Map([['acme', money]]) })).filter((text) =>
      text.startsWith('money'),
    );

  it('reports amounts released twice, kept after the end, or not counted', () => {
    expect(paid({ cost: 5 }, { spent: 5, reserved: 0 })).toEqual([]);
    expect(paid({ cost: 5 }, { spent: 10, reserved: 0 })).toEqual(['money acme spent 10, its jobs cost 5']);
    expect(paid({}, { spent: 0, reserved: 3 })).toEqual(['money acme reserved 3, its jobs hold 0']);
    expect(paid({ reserved: '{"micros":3,"accounts":[]}' }, { spent: 0, reserved: 0 })).toEqual([
      'money acme reserved 0, its jobs hold 3',
    ]);
  });
});
