import type { PolicyDecision } from '@svc/policy';
import { toDecisionRecord } from './decision-record';
import { approvalStateFor, approvalTimeMs, initialStateFor } from './initial-state';

const terms = { nowUs: 5_000_000, timeLimitMs: 1_000, inputHash: () => 'input-hash' };
const required = { reason: 'the step requires it', approval: { revision: 3 } };

function decided(decision: PolicyDecision['decision'], over: Partial<PolicyDecision> = {}) {
  const answer = {
    decision,
    reason: '',
    rule_id: 'r1',
    policy_snapshot: 's1',
    remediations: [],
    ...over,
  } as PolicyDecision;
  return { decision: answer, record: toDecisionRecord(answer, 'job-hash', 'gateway', 5_000_000) };
}
const initial = (...args: Parameters<typeof decided>) => initialStateFor('j1', decided(...args), terms);

describe('the initial state of a job', () => {
  it.each(['ALLOW', 'ALLOW_WITH_CONSTRAINTS'] as const)('is accepted on %s', (decision) => {
    expect(initial(decision)).toEqual({ kind: 'accepted', decision: decided(decision).record });
  });

  it('is held on REQUIRE_APPROVAL, with an approval bound to request, input and policy', () => {
    const state = initial('REQUIRE_APPROVAL');

    expect(state).toMatchObject({ kind: 'held', decision: { approval_ref: 'j1' }, next: { event: 'hold' } });
    expect(state).toHaveProperty('next.extras', {
      set: {
        approval: {
          status: 'pending',
          revision: 1,
          policy_snapshot: 's1',
          job_hash: 'job-hash',
          input_hash: 'input-hash',
          expires_at: 6_000_000,
        },
      },
      park: { queue: 'jobApprovals', forMs: 1_000 },
    });
  });

  it('is denied on DENY, with the reason of the rule where it has one', () => {
    expect(initial('DENY', { reason: 'no' })).toMatchObject({ kind: 'denied', failure: { message: 'no' } });
    expect(initial('DENY')).toMatchObject({ kind: 'denied', failure: { message: 'denied by policy' } });
  });

  it('does not exist for a throttled job', () => {
    expect(initial('THROTTLE', { throttle_duration_ms: 7 })).toEqual({ kind: 'throttled', waitMs: 7 });
    expect(initial('THROTTLE')).toEqual({ kind: 'throttled', waitMs: 30_000 });
  });
});

describe('a job that requires an approval', () => {
  it.each(['ALLOW', 'THROTTLE', 'REQUIRE_APPROVAL'] as const)('is held on %s', (decision) => {
    const state = approvalStateFor('j1', decided(decision), required, terms);

    expect(state).toMatchObject({
      kind: 'held',
      decision: { decision: 'REQUIRE_APPROVAL', reason: 'the step requires it', approval_ref: 'j1' },
      next: { extras: { set: { approval: { revision: 3, status: 'pending' } } } },
    });
  });

  it('is denied on DENY', () => {
    expect(approvalStateFor('j1', decided('DENY'), required, terms)).toMatchObject({ kind: 'denied' });
  });
});

it('an approval ends with the deadline of its job, and is never without time', () => {
  expect(approvalTimeMs(1_000, 0, 50)).toBe(1_000);
  expect(approvalTimeMs(1_000, 500, 50)).toBe(450);
  expect(approvalTimeMs(1_000, 500, 600)).toBe(1);
});
