import type { JobState } from '@svc/lifecycle';
import type { DecisionRecord, JobHistoryEntry, JobRecord } from '@svc/store';
import type { Answer, Call, Dispatch, History, JobHistory } from './history';
import { violations } from './invariants';

/** A job that went its ordinary way, from which each test breaks one thing. */
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
  decision: 'ALLOW', source: 'scheduler', job_hash: 'h', policy_snapshot: 's', checked_at: 10,
}; // prettier-ignore
const sent: Dispatch = { jobId: 'j1', workerId: 'w1', dispatchId: 'd1', attempt: 1, sentUs: 20, jobHash: 'h' };
const said: Answer = { jobId: 'j1', senderId: 'w1', workerId: 'w1', dispatchId: 'd1', resultPtr: 'p1' };
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
  answers: [said],
  mayWait: new Set(),
  money: new Map(),
  left: {},
  ...over,
});
const withJob = (over: Partial<JobHistory>, more: Partial<History> = {}) =>
  history({ jobs: new Map([['j1', job(over)]]), ...more });
const inState = (state: JobState, over: Partial<JobRecord> = {}) => ({ ...record, state, ...over });
const faults = (broken: History) => violations(broken).map(({ invariant, text }) => `${invariant} ${text}`);
const letter = { job_id: 'j1', tenant: 'acme', created_at: '' };

it('finds nothing in a history where all is well', () => {
  expect(violations(history())).toEqual([]);
});

describe('I1 nothing lost', () => {
  it('misses a job that was acknowledged and is gone', () => {
    expect(faults(withJob({ record: undefined }, { dispatches: [] }))).toEqual(['I1 was accepted and has no record']);
  });

  it('wants a reason of a job that waits', () => {
    const waiting = inState('PENDING');
    const path = events.slice(0, 1);

    expect(faults(withJob({ record: waiting, events: path }, { dispatches: [] }))).toContain(
      'I1 was accepted, stands in PENDING and does not say what it waits for',
    );
    const said = { ...waiting, waiting_reason: 'no_workers' };
    const mayWait = new Set(['j1']);
    expect(faults(withJob({ record: said, events: path }, { dispatches: [], mayWait }))).toEqual([]);
  });
});

describe('I2 one legal path', () => {
  it.each<[string, JobHistoryEntry[], JobState]>([
    ['succeed led from PENDING to DISPATCHED', [{ event: 'succeed', from: 'PENDING', to: 'DISPATCHED', at: 2 }], 'DISPATCHED'],
    ['start left DISPATCHED, and it was PENDING', [{ event: 'start', from: 'DISPATCHED', to: 'RUNNING', at: 2 }], 'RUNNING'],
    ['cancel came before the move before it', [{ event: 'cancel', from: 'PENDING', to: 'CANCELLED', at: 0 }], 'CANCELLED'],
    ['is SUCCEEDED, and its history ends in CANCELLED', [{ event: 'cancel', from: 'PENDING', to: 'CANCELLED', at: 2 }], 'SUCCEEDED'],
  ])('catches: %s', (text, moves, state) => {
    const path = [...events.slice(0, 1), ...moves];

    expect(faults(withJob({ record: inState(state), events: path }, { dispatches: [] }))).toContain(`I2 ${text}`);
  }); // prettier-ignore

  it('catches a second end', () => {
    const twice: JobHistoryEntry[] = [...events, { event: 'succeed', from: 'SUCCEEDED', to: 'SUCCEEDED', at: 5 }];

    expect(faults(withJob({ events: twice }))).toEqual(['I2 succeed led from SUCCEEDED to SUCCEEDED']);
  });

  it('lets a success be quarantined', () => {
    const path: JobHistoryEntry[] = [...events, { event: 'quarantine', from: 'SUCCEEDED', to: 'OUTPUT_QUARANTINED', at: 5 }];

    expect(faults(withJob({ record: inState('OUTPUT_QUARANTINED'), events: path, deadLetter: letter }))).toEqual([]);
  }); // prettier-ignore
});

describe('I3 no dispatch without a verdict', () => {
  const missing = 'I3 attempt 1 has no verdict that was there before it';

  it.each<[string, DecisionRecord[]]>([
    ['none', []],
    ['a denial', [{ ...allowed, decision: 'DENY' }]],
    ['only the word of the gateway', [{ ...allowed, source: 'gateway' }]],
    ['one of another request', [{ ...allowed, job_hash: 'other' }]],
    ['one of no policy', [{ ...allowed, policy_snapshot: '' }]],
    ['one that came later', [{ ...allowed, checked_at: 21 }]],
  ])('catches: %s', (_, decisions) => {
    expect(faults(withJob({ decisions }))).toEqual([missing]);
  });

  it('accepts the decision of the gateway for a job that was placed at submission', () => {
    const decisions: DecisionRecord[] = [{ ...allowed, source: 'gateway' }];

    expect(faults(withJob({ record: { ...record, decided: 'submission' }, decisions }))).toEqual([]);
  });

  it('takes an approval of this request, and no other', () => {
    const approval = { status: 'approved', revision: 2, job_hash: 'h', policy_snapshot: 's', resolved_at: 15 } as const;
    const approved = (over: object) => withJob({ record: { ...record, approval: { ...approval, ...over } }, decisions: [] });

    expect(faults(approved({}))).toEqual([]);
    expect(faults(approved({ status: 'rejected' }))).toEqual([missing]);
    expect(faults(approved({ job_hash: 'other' }))).toEqual([missing]);
    expect(faults(approved({ resolved_at: 21 }))).toEqual([missing]);
  }); // prettier-ignore

  it('catches a dispatch of a job that does not exist', () => {
    expect(faults(history({ dispatches: [sent, { ...sent, jobId: 'ghost' }] }))).toEqual([
      'I3 was dispatched and has no record',
    ]);
  });
});

describe('I4 an approval acts once', () => {
  const approve: Call = { act: 'approve', jobId: 'j1', outcome: 'ok', status: 200, code: '' };
  const path: JobHistoryEntry[] = [
    { event: 'submit', to: 'PENDING', at: 1 },
    { event: 'hold', from: 'PENDING', to: 'APPROVAL_REQUIRED', at: 1 },
    { event: 'release', from: 'APPROVAL_REQUIRED', to: 'PENDING', at: 1 },
    ...events.slice(1),
  ];
  const decided = (calls: Call[], over: Partial<JobHistory> = {}) =>
    faults(withJob({ events: path, ...over }, { calls: [submitted, ...calls] }));

  it('lets one act, one hear that it is done, and one lose with a code', () => {
    const lost: Call = {
      ...approve,
      act: 'reject',
      outcome: 'refused',
      status: 409,
      code: 'approval_already_resolved',
    };

    expect(decided([approve, { ...approve, repeated: true }, lost])).toEqual([]);
  });

  it('catches two that acted, contrary answers, uncoded conflicts and a decision without effect', () => {
    expect(decided([approve, approve])).toEqual(['I4 2 callers were told that they decided']);
    expect(decided([approve, { ...approve, act: 'reject', repeated: true }])).toEqual([
      'I4 one caller was told it is approved, another that it is rejected',
    ]);
    expect(decided([approve, { ...approve, outcome: 'refused', status: 500, code: 'internal_error' }])).toEqual([
      'I4 a conflict was answered 500 internal_error',
    ]);
    expect(decided([approve], { events })).toEqual(['I4 was decided, and nothing happened']);
  });
});

describe('I5 stale attempts are powerless', () => {
  it.each<[string, Partial<Answer>]>([
    ['another worker', { senderId: 'liar' }],
    ['an earlier dispatch', { dispatchId: 'd0' }],
  ])('catches a result of %s', (_, over) => {
    expect(faults(history({ answers: [{ ...said, ...over }] }))).toEqual([
      expect.stringMatching(/^I5 took the result of /),
    ]);
  });

  it('looks at what the worker gave, also when a redacted copy is shown', () => {
    const output_safety = { original_ptr: 'p1' } as NonNullable<JobRecord['output_safety']>;
    const redacted = { ...record, result_ptr: 'copy', output_safety };
    const answers = [{ ...said, senderId: 'liar' }];

    expect(faults(withJob({ record: redacted }, { answers }))).toHaveLength(1);
  });

  it('catches a dispatch that no move made', () => {
    expect(faults(history({ dispatches: [sent, { ...sent, dispatchId: 'd2' }] }))).toEqual([
      'I5 went out as 2 dispatches and was given out 1 times',
    ]);
  });
});

describe('I6 idempotency', () => {
  it('lets a repeat have the same answer, and another body a conflict', () => {
    const conflict: Call = { ...submitted, body: 'b2', outcome: 'refused', status: 409, code: 'idempotency_conflict' };

    expect(faults(history({ calls: [submitted, submitted, conflict] }))).toEqual([]);
  });

  it('catches two jobs, two bodies, and a key that is taken by nothing', () => {
    const jobs = new Map([
      ['j1', job()],
      ['j2', job()],
    ]);
    const other = { ...submitted, jobId: 'j2' };
    expect(faults(history({ jobs, calls: [submitted, other] }))).toEqual(['I6 key k1 made 2 jobs: j1, j2']);
    expect(faults(history({ calls: [submitted, { ...submitted, body: 'b2' }] }))).toEqual([
      'I6 key k1 was accepted with 2 bodies',
    ]);
    const refused: Call = { ...submitted, outcome: 'refused', status: 409, code: 'idempotency_conflict' };
    expect(faults(history({ calls: [refused] }))).toEqual([
      'I6 key k1 is a conflict and nothing was ever accepted under it',
    ]);
  });
});

describe('I9 dead letters are complete', () => {
  const failed: JobHistoryEntry[] = [...events.slice(0, 3), { event: 'fail', from: 'RUNNING', to: 'FAILED', at: 4 }];
  const dead = { record: inState('FAILED'), events: failed };
  const retry: Call = { act: 'retry', jobId: 'j1', newJobId: 'j2', outcome: 'ok', status: 200, code: '' };
  const child = job({ record: { ...record, request: { ...request, labels: { retry_of_job: 'j1' } } } });

  it('catches a failure without one, and a success with one', () => {
    expect(faults(withJob({ ...dead, deadLetter: letter }))).toEqual([]);
    expect(faults(withJob(dead))).toEqual(['I9 is FAILED and has no dead letter']);
    expect(faults(withJob({ deadLetter: letter }))).toEqual(['I9 is SUCCEEDED and has a dead letter']);
  });

  it('lets a failed attempt that its run retries be without one', () => {
    const attempt = { ...dead, record: { ...dead.record, letter: 'withheld' as const } };

    const missing = 'I9 is FAILED and has no dead letter';
    expect(faults(withJob({ ...attempt, record: { ...attempt.record, run: 'r1' } }))).not.toContain(missing);
    expect(faults(withJob(attempt))).toContain(missing);
  });

  it('wants exactly one new job of a retry, and the letter gone', () => {
    const after = (jobs: Record<string, JobHistory>) =>
      faults(history({ calls: [submitted, retry], jobs: new Map(Object.entries(jobs)) }));

    expect(after({ j1: job(dead), j2: child })).toEqual([]);
    expect(after({ j1: job(dead), j2: child, j3: child })).toEqual(['I9 one retry made 2 jobs']);
    expect(after({ j1: job({ ...dead, deadLetter: letter }), j2: child })).toEqual([
      'I9 was retried, and still has its dead letter',
    ]);
    expect(after({ j1: job(dead), j2: job() })).toEqual(['I9 was retried, and there is no new job']);
  });
});

describe('I15 nothing is stuck', () => {
  it('catches what still stands somewhere, and what is left over', () => {
    const running = withJob({ record: inState('RUNNING', { waiting_reason: 'x' }), events: events.slice(0, 3) });

    expect(faults(running)).toEqual(['I15 still stands in RUNNING (x)']);
    expect(faults(history({ left: { 'jobs in flight': 2, intents: 0 } }))).toEqual(['I15 2 left over: jobs in flight']);
  });
});

describe('money adds up', () => {
  const paid = (over: Partial<JobRecord>, money: { spent: number; reserved: number }) =>
    faults(withJob({ record: { ...record, ...over } }, { money: new Map([['acme', money]]) })).filter((text) =>
      text.startsWith('money'),
    );

  it('misses what was given back twice, kept after the end, or not counted', () => {
    expect(paid({ cost: 5 }, { spent: 5, reserved: 0 })).toEqual([]);
    expect(paid({ cost: 5 }, { spent: 10, reserved: 0 })).toEqual(['money acme spent 10, its jobs cost 5']);
    expect(paid({}, { spent: 0, reserved: 3 })).toEqual(['money acme reserved 3, its jobs hold 0']);
    expect(paid({ reserved: '{"micros":3,"accounts":[]}' }, { spent: 0, reserved: 0 })).toEqual([
      'money acme reserved 0, its jobs hold 3',
    ]);
  });
});
