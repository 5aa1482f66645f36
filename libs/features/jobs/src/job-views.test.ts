import { jobDetail, jobItem } from '@svc/contract';
import type { ApprovalRecord } from '@svc/store';
import { plainJob } from '@svc/fixtures/decision';
import { actionability, getApproval, parseJsonOrNull, toJobDetail, toJobItem } from './job-views';

const full = plainJob(
  {
    state: 'FAILED',
    deadline_ms: 5_000,
    worker_id: 'w',
    error_code: 'c',
    error_message: 'm',
    error_status: 'JOB_STATUS_FAILED',
    last_state: 'RUNNING',
    result_ptr: 'redis://res:j1',
    artifact_ptrs: ['redis://art:1'],
    safety: { decision: 'ALLOW', rule_id: 'r', checked_at: 1, source: 'gateway', remediations: [{ id: 'a' }] },
  },
  { team_id: 'red', idempotency_key: 'k', risk_tags: ['x'], labels: { a: '1', _source: 'api' }, actor_type: 'human' },
);

describe('jobItemOf', () => {
  it('omits fields that are not set', () => {
    const { request } = plainJob();

    expect(toJobItem(plainJob({ topic: '', request: { ...request, actor_id: '', principal_id: '' } }))).toEqual({
      id: 'j1',
      state: 'PENDING',
      updated_at: 2_000_000,
      created_at: 1_000_000,
      attempts: 0,
      trace_id: 't1',
      tenant: 'acme',
    });
  });

  it('has the fields that are set, with the deadline in microseconds', () => {
    expect(toJobItem(full)).toMatchObject({
      deadline_unix: 5_000_000,
      team: 'red',
      risk_tags: ['x'],
      failure_reason: 'm',
    });
  });

  it.each([plainJob(), full])('matches the schema of the contract (%#)', (job) => {
    expect(jobItem.validate(toJobItem(job)).error).toBeUndefined();
    expect(jobDetail.validate(toJobDetail(job, null, null)).error).toBeUndefined();
  });
});

describe('jobDetailOf', () => {
  const result = Buffer.from('{"a":1}');

  it('has context and result decoded, and null when they are gone or not JSON', () => {
    expect(toJobDetail(full, Buffer.from('[1]'), result)).toMatchObject({ context: [1], result: { a: 1 } });
    expect(toJobDetail(full, null, Buffer.from('text'))).toMatchObject({ context: null, result: null });
  });

  it('withholds the result of a quarantined job', () => {
    const detail = toJobDetail({ ...full, state: 'OUTPUT_QUARANTINED' }, null, result);

    expect(detail).toMatchObject({ result: null, result_ptr: '' });
  });

  it.each(['PENDING', 'SCHEDULED', 'RETRYING'] as const)('has the waiting reason while the job is %s', (state) => {
    expect(toJobDetail(plainJob({ state, waiting_reason: 'no_workers' }), null, null).waiting_reason).toBe(
      'no_workers',
    );
  });

  it.each(['DISPATCHED', 'RUNNING', 'SUCCEEDED', 'FAILED'] as const)(
    'a job that is %s has no waiting reason',
    (state) => {
      const detail = toJobDetail(plainJob({ state, waiting_reason: 'no_workers' }), null, null);

      expect(detail).not.toHaveProperty('waiting_reason');
    },
  );

  it('the previous state is present only after a failure', () => {
    expect(toJobDetail(plainJob({ last_state: 'PENDING' }), null, null)).not.toHaveProperty('last_state');
    expect(toJobDetail(full, null, null).last_state).toBe('RUNNING');
  });

  it('a rejection appears as the result, unless a worker wrote one', () => {
    const denied = plainJob({ state: 'DENIED', error_message: 'no', completed_at: 0 });

    expect(toJobDetail(denied, null, null).result).toMatchObject({
      status: 'JOB_STATUS_DENIED',
      error: { message: 'no' },
    });
    expect(toJobDetail(denied, null, result).result).toEqual({ a: 1 });
  });
});

describe('approvals', () => {
  const pending: ApprovalRecord = { status: 'pending', revision: 1 };

  it.each([
    [{ status: 'pending' }, 'actionable'],
    [{ status: 'approved' }, 'resolved'],
    [{ status: 'rejected' }, 'resolved'],
    [{ status: 'repaired' }, 'repaired'],
    [{ status: 'invalidated', decision: 'invalidate' }, 'invalidated'],
    [{ status: 'invalidated', decision: 'expire' }, 'expired'],
  ] as const)('%j is %s', (approval, word) => {
    expect(actionability({ revision: 1, ...approval })).toBe(word);
  });

  it('an undecided approval is void once the job has ended', () => {
    const of = (state: 'APPROVAL_REQUIRED' | 'CANCELLED' | 'TIMEOUT') =>
      getApproval(plainJob({ state, approval: pending }));

    expect(of('APPROVAL_REQUIRED')).toBe(pending);
    expect(of('CANCELLED')).toMatchObject({
      status: 'invalidated',
      decision: 'invalidate',
      revision: 2,
      resolved_at: 2_000_000,
    });
    expect(of('TIMEOUT')).toMatchObject({ decision: 'expire' });
    expect(getApproval(plainJob())).toBeUndefined();
  });

  it('a resolved approval keeps its resolution', () => {
    const approval: ApprovalRecord = { status: 'approved', revision: 2, decision: 'approve' };

    expect(getApproval(plainJob({ state: 'SUCCEEDED', approval }))).toBe(approval);
  });
});

it.each([
  [null, null],
  [Buffer.from(''), null],
  [Buffer.from('null'), null],
  [Buffer.from([0xff]), null],
  [Buffer.from('{"a":[1]}'), { a: [1] }],
])('decoded (%#)', (body, value) => {
  expect(parseJsonOrNull(body)).toEqual(value);
});
