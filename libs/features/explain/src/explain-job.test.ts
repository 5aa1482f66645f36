import { approvalGateTopic, jobBlockers, jobChecks } from '@svc/contract';
import { refusingAgent } from './agent-blockers.testing';
import { explainJob } from './explain-job';
import { blockerCases as cases, buildTopic } from './job-blockers.testing';
import { at, factsWith, runningWith, us, waitingWith } from './job-facts.testing';

describe('a job is explained by the first thing that blocks it', () => {
  it.each(cases)('$blocker: $name', ({ blocker, facts, check, owner, clears = null, what }) => {
    const explained = explainJob(facts);

    expect(explained.blocked_by).toMatchObject({ kind: blocker, owner, clears_at: clears });
    expect(explained.blocked_by?.what).toMatch(what);
    expect(explained.summary).toContain(explained.blocked_by?.what);
    expect(explained.checks.find(({ outcome }) => outcome === 'blocks')).toMatchObject({ check, owner });
  });

  it('covers every kind of blocker', () => {
    expect(new Set(cases.map(({ blocker }) => blocker))).toEqual(new Set(jobBlockers));
  });

  it('runs every check in order, and only the first blocker blocks', () => {
    const facts = waitingWith({ job: { topic: 'job.gpu' }, position: { allInFlight: 3 }, facts: { licenseCap: 3 } });

    const { checks } = explainJob(facts);

    expect(checks.map(({ check }) => check)).toEqual([...jobChecks]);
    expect(checks.filter(({ outcome }) => outcome === 'blocks').map(({ check }) => check)).toEqual(['worker']);
    expect(checks.find(({ check }) => check === 'slots')?.outcome).toBe('not_reached');
    expect(checks.find(({ check }) => check === 'license_limit')?.outcome).toBe('would_block');
  });

  it('reports later blockers of a held job, but not as the first one', () => {
    const explained = explainJob(
      factsWith({ job: { state: 'APPROVAL_REQUIRED' }, facts: { topic: buildTopic('disabled'), workers: [] } }),
    );

    expect(explained.blocked_by?.kind).toBe('approval');
    const ahead = explained.checks.filter(({ outcome }) => outcome === 'would_block').map(({ check }) => check);
    expect(ahead).toEqual(['topic', 'worker']);
  });
});

describe('the agent of a job', () => {
  const agent = refusingAgent('active', { kind: 'refused', reason: 'pool_not_in_allowed_list' });
  const request = { agent_id: 'a1' };
  const facts = { agent };

  it('is shown with its tier, and with the refusal that the job would get now, in every state', () => {
    const shown = { agent_id: 'a1', name: 'mailer', status: 'active', risk_tier: 'high' };
    const refusal = { by: 'agent', reason: 'pool_not_in_allowed_list' };

    for (const job of [factsWith, waitingWith, runningWith])
      expect(explainJob(job({ request, facts })).agent).toEqual({ ...shown, refusal });
    expect(explainJob(factsWith())).not.toHaveProperty('agent');
  });

  it('blocks no job that a worker runs, and one that waits only when it is next decided', () => {
    const [waiting, running] = [waitingWith, runningWith].map((job) => explainJob(job({ request, facts })));

    expect([waiting?.blocked_by, running?.blocked_by]).toEqual([null, null]);
    const outcomes = [waiting, running].map((one) => one?.checks.find(({ check }) => check === 'agent')?.outcome);
    expect(outcomes).toEqual(['would_block', 'not_reached']);
  });
});

describe('a job that nothing blocks', () => {
  it.each([
    ['is being decided', factsWith({ facts: { topic: buildTopic('active') } }), 'A scheduler is processing it now.'],
    ['is about to be dispatched', waitingWith(), /^Nothing blocks it: .* found pool_overloaded\.$/],
    ['runs', runningWith(), `It has been running on w1 since ${at(-10)}.`],
    [
      'runs without policy, which is unavailable and whose fail mode is open',
      factsWith({
        job: { waiting_reason: 'safety_unavailable' },
        facts: { config: { scheduler: { input_fail_mode: 'open' } } },
      }),
      'A scheduler is processing it now.',
    ],
    ['a gate needs no pool', factsWith({ job: { topic: approvalGateTopic } }), 'A scheduler is processing it now.'],
  ])('%s', (_, facts, summary) => {
    const explained = explainJob(facts);

    expect(explained.blocked_by).toBeNull();
    expect(explained.summary).toMatch(summary);
    expect(explained.checks.map(({ outcome }) => outcome)).not.toContain('would_block');
  });

  it('shows the worker, and its last heartbeat or progress', () => {
    const progress = explainJob(runningWith({ job: { progress_at: us(-0.5) } }));
    const heartbeat = explainJob(runningWith());

    expect(heartbeat.held_by).toEqual({ worker_id: 'w1', pool: 'main', since: at(-10), last_sign_of_life: at(-1) });
    expect(progress.held_by?.last_sign_of_life).toBe(at(-0.5));
  });
});
