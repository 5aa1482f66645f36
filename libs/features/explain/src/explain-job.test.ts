import { approvalGateTopic, jobBlockers, jobChecks } from '@svc/contract';
import { explainJob } from './explain-job';
import { blockerCases as cases, topicOf } from './job-blockers.testing';
import { at, factsWith, runningWith, us, waitingWith } from './job-facts.testing';

describe('a job is explained by the first thing that blocks it', () => {
  it.each(cases)('$blocker: $name', ({ blocker, facts, check, owner, clears = null, what }) => {
    const told = explainJob(facts);

    expect(told.blocked_by).toMatchObject({ kind: blocker, owner, clears_at: clears });
    expect(told.blocked_by?.what).toMatch(what);
    expect(told.summary).toContain(told.blocked_by?.what);
    expect(told.checks.find(({ outcome }) => outcome === 'blocks')).toMatchObject({ check, owner });
  });

  it('every kind of blocker has a case here', () => {
    expect(new Set(cases.map(({ blocker }) => blocker))).toEqual(new Set(jobBlockers));
  });

  it('every check is walked, in order, and only the first that holds it blocks', () => {
    const facts = waitingWith({ job: { topic: 'job.gpu' }, standing: { allInFlight: 3 }, facts: { licenseCap: 3 } });

    const { checks } = explainJob(facts);

    expect(checks.map(({ check }) => check)).toEqual([...jobChecks]);
    expect(checks.filter(({ outcome }) => outcome === 'blocks').map(({ check }) => check)).toEqual(['worker']);
    expect(checks.find(({ check }) => check === 'slots')?.outcome).toBe('not_reached');
    expect(checks.find(({ check }) => check === 'license_limit')?.outcome).toBe('would_block');
  });

  it('what a held job will meet after its approval is no first blocker, but is told', () => {
    const told = explainJob(
      factsWith({ job: { state: 'APPROVAL_REQUIRED' }, facts: { topic: topicOf('disabled'), workers: [] } }),
    );

    expect(told.blocked_by?.kind).toBe('approval');
    const ahead = told.checks.filter(({ outcome }) => outcome === 'would_block').map(({ check }) => check);
    expect(ahead).toEqual(['topic', 'worker']);
  });
});

describe('a job that nothing blocks', () => {
  it.each([
    ['is being decided', factsWith({ facts: { topic: topicOf('active') } }), 'A scheduler decides about it now.'],
    ['is about to be given out', waitingWith(), /^Nothing is in its way .* found pool_overloaded\.$/],
    ['runs', runningWith(), `It runs with w1 since ${at(-10)}.`],
    [
      'runs without policy, which is silent and whose fail mode is open',
      factsWith({
        job: { waiting_reason: 'safety_unavailable' },
        facts: { config: { scheduler: { input_fail_mode: 'open' } } },
      }),
      'A scheduler decides about it now.',
    ],
    ['a gate needs no pool', factsWith({ job: { topic: approvalGateTopic } }), 'A scheduler decides about it now.'],
  ])('%s', (_, facts, summary) => {
    const told = explainJob(facts);

    expect(told.blocked_by).toBeNull();
    expect(told.summary).toMatch(summary);
    expect(told.checks.map(({ outcome }) => outcome)).not.toContain('would_block');
  });

  it('shows who has it, and the last sign of life of worker or progress', () => {
    const progress = explainJob(runningWith({ job: { progress_at: us(-0.5) } }));
    const heard = explainJob(runningWith());

    expect(heard.held_by).toEqual({ worker_id: 'w1', pool: 'main', since: at(-10), last_sign_of_life: at(-1) });
    expect(progress.held_by?.last_sign_of_life).toBe(at(-0.5));
  });
});
