import { approvalGateTopic, type Owner } from '@svc/contract';
import { isTerminal, jobStates } from '@svc/lifecycle';
import { defaultTimeouts } from '@svc/routing';
import type { JobRecord } from '@svc/store';
import { explainJob } from './explain-job';
import { at, entry, factsWith, nowMs, runningWith, us, waitingWith } from './job-facts.testing';

const rule = { decision: 'DENY', rule_id: 'the-rule', checked_at: us(-5), source: 'scheduler' } as const;
const ended = (state: JobRecord['state'], job: Partial<JobRecord> = {}) =>
  factsWith({ job: { state, completed_at: us(-3), ...job } });
const dueIn = (sec: number) => ({ entry: entry({ at: 'delayed', dueMs: nowMs + sec * 1_000 }) });

describe('how a job ended', () => {
  it.each<[string, JobRecord['state'], Partial<JobRecord>, Owner, RegExp]>([
    ['a worker completed it', 'SUCCEEDED', { worker_id: 'w1', attempts: 1 }, { kind: 'worker', id: 'w1' }, /completed by w1/],
    ['a gate was approved', 'SUCCEEDED', { topic: approvalGateTopic }, { kind: 'approval', id: 'j1' }, /it was approved/],
    ['policy denied it', 'DENIED', { error_code: 'policy_denied', error_message: 'no', safety: rule }, { kind: 'policy_rule', id: 'the-rule', value: 'DENY' }, /^no$/],
    ['no rule matches', 'DENIED', { error_code: 'safety_denied', safety: { ...rule, rule_id: undefined } as never }, { kind: 'policy_rule', id: 'default_decision', value: 'DENY' }, /DENIED/],
    ['it cost too much', 'DENIED', { error_code: 'budget_exceeded', over_budget: { limit: 'per_job_max_usd', of: 'job j1', amount: 5_000_000, spent: 0, reserved: 0 } }, { kind: 'setting', id: 'budget.per_job_max_usd', value: 5 }, /DENIED/],
    ['a person rejected it', 'DENIED', { error_code: 'approval_rejected', approval: { status: 'rejected', revision: 2, resolved_by: 'bob' } }, { kind: 'approval', id: 'j1', value: 'bob' }, /DENIED/],
    ['its approval expired', 'DENIED', { error_code: 'approval_expired' }, { kind: 'setting', id: 'SVC_APPROVAL_TTL', value: '86400s' }, /DENIED/],
    ['its topic was removed', 'FAILED', { error_code: 'unknown_topic' }, { kind: 'topic', id: 'job.work' }, /FAILED/],
    ['its input did not match the schema', 'FAILED', { error_code: 'schema_validation_failed' }, { kind: 'topic', id: 'job.work' }, /FAILED/],
    ['it was dispatched too often', 'FAILED', { error_code: 'max_scheduling_retries', attempts: 50 }, { kind: 'limit', id: 'scheduling attempts', value: 50 }, /FAILED/],
    ['it failed too often', 'FAILED', { error_code: 'max_retries_exceeded', retry_count: 3, worker_id: 'w1' }, { kind: 'setting', id: 'retry.max_retries', value: 3 }, /on w1/],
    ['its worker failed', 'FAILED', { error_code: 'boom', error_message: 'it broke', worker_id: 'w1' }, { kind: 'worker', id: 'w1' }, /it broke/],
    ['its result was withheld', 'OUTPUT_QUARANTINED', { error_code: 'output_quarantined', output_safety: { rule_id: 'out-1' } as never }, { kind: 'policy_rule', id: 'out-1' }, /QUARANTINED/],
    ['a caller cancelled it', 'CANCELLED', { error_message: 'an older failure' }, { kind: 'caller', id: '' }, /a caller cancelled it/],
    ['its worker cancelled it', 'CANCELLED', { error_code: 'cancelled', error_message: 'by the worker', worker_id: 'w1' }, { kind: 'worker', id: 'w1' }, /by the worker/],
    ['its deadline passed', 'TIMEOUT', { error_code: 'timeout', error_message: 'timeout: deadline expired' }, { kind: 'request', id: 'deadline_ms', value: 0 }, /deadline/],
    ['it waited too long for its submitter', 'TIMEOUT', { error_code: 'timeout', error_message: 'timeout: no worker within its queue_ttl_ms of 5 ms (x)' }, { kind: 'request', id: 'queue_ttl_ms', value: 0 }, /queue_ttl/],
    ['it waited too long for its topic', 'TIMEOUT', { error_code: 'timeout', error_message: 'timeout: no worker within 5 s (x)' }, { kind: 'setting', id: 'timeouts.yaml: max_pending_seconds', value: 0 }, /no worker/],
    ['it ran too long', 'TIMEOUT', { error_code: 'timeout', error_message: 'timeout: the worker did not answer in time', run_ms: 9_000 }, { kind: 'setting', id: 'timeouts.yaml: running_timeout_seconds', value: 9 }, /did not answer/],
    ['it ran longer than a rule allows', 'TIMEOUT', { error_code: 'timeout', error_message: 'timeout: the worker did not answer in time', safety: { ...rule, decision: 'ALLOW', constraints: { budgets: { max_runtime_ms: 5 } } } }, { kind: 'policy_rule', id: 'the-rule', value: 'ALLOW' }, /did not answer/],
  ])('%s', (_, state, job, owner, what) => {
    const explained = explainJob(ended(state, job));

    expect(explained.ended_by).toMatchObject({ owner, at: at(-3) });
    expect(explained.ended_by?.what).toMatch(what);
    expect(explained).toMatchObject({ blocked_by: null, gives_up: null });
    expect(explained.summary).toContain(explained.ended_by?.what);
  }); // prettier-ignore

  it('is explained for every terminal state, and for no other', () => {
    const states = jobStates.states.filter((state) => explainJob(ended(state)).ended_by !== undefined);

    expect(states).toEqual(jobStates.states.filter(isTerminal));
  });
});

describe('how a job ends by itself', () => {
  const deadline = (sec: number): Partial<JobRecord> => ({ deadline_ms: nowMs + sec * 1_000 });
  const timeouts = { ...defaultTimeouts, topics: { 'job.*': { max_pending_seconds: 90 } } };

  it.each([
    ['nothing, in the queue', factsWith(), null],
    ['its deadline', factsWith({ job: deadline(50), request: { deadline_ms: 110_000 } }), { at: at(50), as: 'TIMEOUT', owner: { kind: 'request', id: 'deadline_ms', value: 110_000 } }],
    ['its queue TTL', factsWith({ job: deadline(50), request: { queue_ttl_ms: 65_000 } }), { at: at(5), as: 'TIMEOUT', owner: { kind: 'request', id: 'queue_ttl_ms', value: 65_000 } }],
    ['the pending limit of its topic', waitingWith({ facts: { timeouts } }), { at: at(30), as: 'TIMEOUT', owner: { kind: 'setting', id: 'timeouts.yaml: max_pending_seconds', value: 90 } }],
    ['the expiry of its approval', factsWith({ job: { state: 'APPROVAL_REQUIRED' }, position: dueIn(70) }), { at: at(70), as: 'DENIED', owner: { kind: 'setting', id: 'SVC_APPROVAL_TTL', value: '86400s' } }],
    ['its deadline, before the expiry of its approval', factsWith({ job: { state: 'APPROVAL_REQUIRED', ...deadline(40) }, position: dueIn(40) }), { at: at(40), as: 'TIMEOUT', owner: { kind: 'request', id: 'deadline_ms', value: 0 } }],
    ['its running timeout', runningWith({ job: { run_ms: 30_000 } }), { at: at(20), as: 'TIMEOUT', owner: { kind: 'setting', id: 'timeouts.yaml: running_timeout_seconds', value: 30 } }],
    ['its running timeout, renewed by progress', runningWith({ job: { run_ms: 30_000, progress_at: us(-2) } }), { at: at(28), as: 'TIMEOUT', owner: { kind: 'setting', id: 'timeouts.yaml: running_timeout_seconds', value: 30 } }],
    ['the limit of a rule, which progress does not renew', runningWith({ job: { run_ms: 12_000, progress_at: us(-1), safety: { ...rule, decision: 'ALLOW', constraints: { budgets: { max_runtime_ms: 12_000 } } } } }), { at: at(2), as: 'TIMEOUT', owner: { kind: 'policy_rule', id: 'the-rule', value: 12_000 } }],
  ])('%s', (_, facts, wanted) => {
    expect(explainJob(facts).gives_up).toEqual(wanted);
  }); // prettier-ignore
});
