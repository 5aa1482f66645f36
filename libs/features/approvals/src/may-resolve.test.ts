import { runStarterRules, type RunStarterRule } from '@svc/contract';
import type { GateTerms } from '@svc/store';
import { person } from '@svc/testing';
import { mayResolve, runStarterRule } from './may-resolve';

describe('mayResolve', () => {
  const gate = (exclude_starter: boolean): GateTerms => ({ quorum: 1, exclude_starter, requester: 'ann' });
  const held = (of: { run?: string; gate?: GateTerms }) => ({
    submitter: 'apikey:1|principal:ann',
    ...(of.run !== undefined && { run: of.run }),
    approval: { status: 'pending' as const, revision: 1, ...(of.gate && { gate: of.gate }) },
  });
  const kinds = {
    'a plain job': held({}),
    'a step that policy holds': held({ run: 'r1' }),
    'an approval step': held({ run: 'r1', gate: gate(false) }),
    'an approval step with exclude_starter': held({ run: 'r1', gate: gate(true) }),
  };
  type Kind = keyof typeof kinds;

  const may: [Kind, Record<RunStarterRule, boolean>][] = [
    ['a plain job', { allow: false, deny_policy_holds: false, deny: false }],
    ['a step that policy holds', { allow: true, deny_policy_holds: false, deny: false }],
    ['an approval step', { allow: true, deny_policy_holds: true, deny: false }],
    ['an approval step with exclude_starter', { allow: false, deny_policy_holds: false, deny: false }],
  ];
  const own = {
    'the same caller': person('ann', { submitterId: 'apikey:1|principal:ann' }),
    'another key of the same principal': person('ann', { submitterId: 'apikey:2|principal:ann' }),
    'another principal with the same key': person('bob', { submitterId: 'apikey:1|principal:bob' }),
  };

  describe.each(may)('%s', (kind, expected) => {
    it.each(runStarterRules)('with run_starter %s, by the requester', (rule) => {
      for (const caller of Object.values(own)) expect(mayResolve(kinds[kind], caller, rule)).toBe(expected[rule]);
    });

    it.each(runStarterRules)('with run_starter %s, by another person: yes', (rule) => {
      expect(mayResolve(kinds[kind], person('bob'), rule)).toBe(true);
    });
  });

  describe('the author of the workflow, of runs that others started', () => {
    const author = person('eve', { submitterId: 'apikey:5|principal:eve' });
    const rows: [Kind, Record<RunStarterRule, boolean>][] = [
      ['a step that policy holds', { allow: true, deny_policy_holds: false, deny: false }],
      ['an approval step', { allow: true, deny_policy_holds: true, deny: false }],
    ];

    it.each(rows)('%s', (kind, expected) => {
      const job = { ...kinds[kind], author: 'apikey:4|principal:eve' };

      for (const rule of runStarterRules) expect(mayResolve(job, author, rule)).toBe(expected[rule]);
    });
  });

  it('the starter that an approval step names is recognised by the principal alone', () => {
    const caller = person('ann', { submitterId: 'jwt:9|principal:' });

    expect(mayResolve(kinds['an approval step'], caller, 'deny')).toBe(false);
  });
});

it.each([
  [undefined, 'deny_policy_holds'],
  [{ approvals: {} }, 'deny_policy_holds'],
  [{ approvals: { run_starter: 'allow' } }, 'allow'],
  [{ approvals: { run_starter: 'deny' } }, 'deny'],
  [{ approvals: { run_starter: 'anything' } }, 'deny_policy_holds'],
])('config %j reads as run_starter %s', (config, rule) => {
  expect(runStarterRule(config)).toBe(rule);
});
