import { jobDetail, jobItem, type JobDetail } from '@svc/contract';
import type { ApprovalRecord, JobRecord } from '@svc/store';
import { plainJob } from '@svc/fixtures/decision';
import fc from 'fast-check';
import assert from 'node:assert/strict';
import { actionability, getApproval, jobDetailText, parseJsonOrNull, toJobItem } from './job-views';

const toJobDetail = (job: JobRecord, context: Buffer | null, result: Buffer | null) =>
  JSON.parse(jobDetailText(job, context, result)) as JobDetail;

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
    expect(toJobDetail(denied, null, Buffer.from(' null ')).result).toMatchObject({ processed_by: 'gateway' });
    expect(toJobDetail(denied, null, result).result).toEqual({ a: 1 });
  });
});

describe('jobDetailText', () => {
  const sent = plainJob({ state: 'SUCCEEDED' });
  const { context: _context, result: _result, ...others } = toJobDetail(sent, null, null);

  it('has the input and the result as a reader would decode them, whatever they hold', () => {
    const document = fc.oneof(
      fc.json({ noUnicodeString: false }).map((text) => Buffer.from(text)),
      fc.jsonValue({ noUnicodeString: false }).map((value) => Buffer.from(` ${JSON.stringify(value, null, 2)}\n`)),
      fc.constantFrom('{"__proto__":{"a":1},"a":1,"a":2}', '[1e999,-1E+0400]', `[1${'0'.repeat(400)}]`, `1${'0'.repeat(250)}e90`, '12345678901234567890', '"1e999"', '{"state":"x"},"state":"FAILED"', '1}', '"\\ud800"', '\ufeff{}', 'NaN', '').map((text) => Buffer.from(text)), // prettier-ignore
      fc.uint8Array({ maxLength: 20 }).map((bytes) => Buffer.from(bytes)),
    );
    // As any JSON reader: numbers beyond its range are null.
    const decoded = (body: Buffer) => JSON.parse(JSON.stringify(parseJsonOrNull(body))) as unknown;

    fc.assert(
      fc.property(document, document, (context, result) => {
        const detail = toJobDetail(sent, context, result);
        assert.deepStrictEqual(detail, { ...others, context: decoded(context), result: decoded(result) });
      }),
    );
  });

  it('passes a document on as it is stored', () => {
    const text = jobDetailText(sent, Buffer.from('{"a": 1.0}'), Buffer.from('[12345678901234567890]'));

    expect(text).toContain('"context":{"a": 1.0},"result_ptr":"","result":[12345678901234567890],');
  });

  it('lists the fields in the order of the interface', () => {
    const names = Object.keys(toJobDetail(full, null, null));

    expect(names.slice(0, 2)).toEqual(['id', 'state']);
    expect(names.slice(17, 22)).toEqual(['context_ptr', 'context', 'result_ptr', 'result', 'safety_decision']);
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
