import type { OverrideMode } from '@svc/contract';
import { ask, parseDocument, buildPolicy, verdict } from '../policy.testing';
import { mergePolicies } from '../compile/merge-policies';
import type { ScanContent } from './content';
import { tryCandidate } from './try-candidate';

const rules = (...lines: string[]) => `rules:\n${lines.map((line) => `  - {${line}}\n`).join('')}`;
const own = (text: string) => `tier: workflow\nselector: {workflow_id: w}\n${text}`;
const id = 'workflow/w/policy';
const request = { workflow_id: 'w' };
const narrowing = 'selector: {workflow_id: w}, tier: workflow';
const policyWith = (sources: Record<string, string>, overrides?: OverrideMode) =>
  buildPolicy(sources, overrides && { overrides });

type Decided = [decision: string, ruleId: string];
const nothing = "version: '1'";
const pack = (decision: string) => own(rules(`id: z, decision: ${decision}`));

/** A wider policy, an override, and the decision when the override may only tighten and when it may extend. */
const table: [what: string, wider: string | Record<string, string>, override: string, tighten: Decided, extend: Decided][] =
  [
    ['allow, over a default deny', nothing, rules('id: o, decision: allow'), ['DENY', ''], ['ALLOW', 'o']],
    ['default allow, over no default', nothing, 'default_decision: allow', ['DENY', ''], ['ALLOW', '']],
    ['default allow, over default deny', 'default_decision: deny', 'default_decision: allow', ['DENY', ''], ['ALLOW', '']],
    ['allow with constraints, over a default deny', nothing, rules('id: o, decision: allow_with_constraints'), ['DENY', ''], ['ALLOW_WITH_CONSTRAINTS', 'o']],
    ['a hold, over a default deny', nothing, rules('id: o, decision: require_approval'), ['DENY', ''], ['REQUIRE_APPROVAL', 'o']],
    ['a throttle, over a default deny', nothing, rules('id: o, decision: throttle, throttle_duration: 1s'), ['DENY', ''], ['THROTTLE', 'o']],
    ['allow, before a workflow-tier deny', { 'x/pack': pack('deny') }, rules('id: o, decision: allow'), ['DENY', 'z'], ['ALLOW', 'o']],
    ['allow, by the name of a workflow-tier deny', { 'a/pack': pack('deny') }, rules('id: z, decision: allow'), ['DENY', 'z'], ['ALLOW', 'z']],
    ['deny, behind a workflow-tier allow', { 'a/pack': pack('allow') }, rules('id: o, decision: deny'), ['DENY', 'o'], ['ALLOW', 'z']],
    ['allow, over a global deny', rules('id: g, decision: deny'), rules('id: o, decision: allow'), ['DENY', 'g'], ['DENY', 'g']],
    ['allow, over a global hold', rules('id: g, decision: require_approval'), rules('id: o, decision: allow'), ['REQUIRE_APPROVAL', 'g'], ['REQUIRE_APPROVAL', 'g']],
    ['allow, over a global throttle', rules('id: g, decision: throttle, throttle_duration: 1s'), rules('id: o, decision: allow'), ['THROTTLE', 'g'], ['THROTTLE', 'g']],
    ['deny, over a global allow', rules('id: g, decision: allow'), rules('id: o, decision: deny'), ['DENY', 'o'], ['DENY', 'o']],
    ['deny, over a default allow', 'default_decision: allow', rules('id: o, decision: deny'), ['DENY', 'o'], ['DENY', 'o']],
    ['a hold, over a default allow', 'default_decision: allow', rules('id: o, decision: require_approval'), ['REQUIRE_APPROVAL', 'o'], ['REQUIRE_APPROVAL', 'o']],
    ['default deny, over a default allow', 'default_decision: allow', 'default_decision: deny', ['DENY', ''], ['DENY', '']],
    ['default deny, over a global allow', rules('id: g, decision: allow'), 'default_decision: deny', ['ALLOW', 'g'], ['ALLOW', 'g']],
    ['allow before its own default deny, over a default allow', 'default_decision: allow', `default_decision: deny\n${rules('id: o, decision: allow')}`, ['ALLOW', 'o'], ['ALLOW', 'o']],
  ]; // prettier-ignore

describe('the override of a workflow', () => {
  it.each(table)('%s', (_, wider, override, tighten, extend) => {
    const others = typeof wider === 'string' ? { base: wider } : wider;
    // By byte order of their ids, as bundles are merged.
    const ordered = Object.entries({ ...others, [id]: own(override) }).sort(([a], [b]) => (a < b ? -1 : 1));
    const sources = Object.fromEntries(ordered);

    expect(verdict(policyWith(sources), request)).toEqual(tighten);
    expect(verdict(policyWith(sources, 'tighten'), request)).toEqual(tighten);
    expect(verdict(policyWith(sources, 'extend'), request)).toEqual(extend);
    expect(verdict(policyWith(sources), { workflow_id: 'other' })).toEqual(verdict(buildPolicy(others), {}));
  });

  it('adds limits to permissions of the wider policy', () => {
    const policy = policyWith({
      base: 'default_decision: allow',
      [id]: own(rules('id: o, decision: allow, constraints: {budgets: {max_retries: 1}}')),
    });

    expect(ask(policy, request)).toMatchObject({
      decision: 'ALLOW_WITH_CONSTRAINTS',
      rule_id: 'o',
      constraints: { budgets: { max_retries: 1 } },
    });
  });

  it('does not apply to a job that is decided by a rule for the job alone', () => {
    const policy = policyWith({
      base: rules('id: j, tier: job, selector: {job_id: j}, decision: allow'),
      [id]: own(rules('id: o, decision: deny')),
    });

    expect(verdict(policy, { ...request, job_id: 'j' })).toEqual(['ALLOW', 'j']);
    expect(verdict(policy, { ...request, job_id: 'k' })).toEqual(['DENY', 'o']);
  });

  it('with an uncounted velocity rule does not turn a denial into a hold', () => {
    const window = 'velocity: {max_requests: 1, window_seconds: 60, key: tenant}';
    const override = own(rules(`id: o, decision: deny, ${window}`));
    const decided = (base: string) =>
      ask(policyWith({ base, [id]: override }), request, {}, () => ({ kind: 'unavailable' })).decision;

    expect(decided(nothing)).toBe('DENY');
    expect(decided('default_decision: allow')).toBe('REQUIRE_APPROVAL');
  });

  it('does not use up the licensed velocity rules of others', () => {
    const pace = (name: string) =>
      rules(`id: ${name}, decision: deny, velocity: {max_requests: 1, window_seconds: 60, key: tenant}`);

    const policy = buildPolicy({ base: nothing, [id]: own(pace('o')), 'x/pack': pace('p') }, { maxVelocityRules: 1 });

    expect(policy.ignoredVelocityRules).toEqual(['o']);
  });

  it('does not replace workflow-tier rules of other documents', () => {
    const policy = policyWith({
      base: rules(`id: b, ${narrowing}, match: {topics: [job.b]}, decision: allow`),
      'secops/w': own(rules('id: s, match: {topics: [job.s]}, decision: allow')),
      'workflow/w/other': own('default_decision: allow'),
    });

    expect(['job.b', 'job.s', 'job.c'].map((topic) => verdict(policy, { ...request, topic })[0])).toEqual(
      Array(3).fill('ALLOW'),
    );
  });
});

describe('content rules of the override', () => {
  const content = (name: string, decision: string) =>
    `input_rules:\n  - {id: ${name}, severity: high, match: {keywords: [salt]}, decision: ${decision}}\n`;
  const scanContent: ScanContent = () => [{ type: 'keyword_match', severity: 'high' }];
  const decided = (override: string, overrides?: OverrideMode) =>
    ask(
      policyWith({ base: `default_decision: allow\n${content('g', 'deny')}`, [id]: own(override) }, overrides),
      { ...request, input_content: 'salt' },
      { scanContent },
    );

  it.each(['o', 'g'])('never soften those of the wider policy, even with the same id: %s', (name) => {
    expect(decided(content(name, 'require_approval'))).toMatchObject({ decision: 'DENY', rule_id: 'g' });
  });

  it('apply by themselves, and come before the wider ones in mode extend', () => {
    const policy = policyWith({ base: 'default_decision: allow', [id]: own(content('o', 'deny')) });

    expect(ask(policy, { ...request, input_content: 'salt' }, { scanContent })).toMatchObject({ rule_id: 'o' });
    expect(decided(content('o', 'require_approval'), 'extend')).toMatchObject({ decision: 'REQUIRE_APPROVAL' });
  });
});

describe('the snapshot', () => {
  const sources = { base: 'version: "1"', [id]: own(rules('id: o, decision: allow')) };

  it.each([
    ['rules', rules('id: o, decision: allow')],
    ['a default', 'default_decision: allow'],
    ['content rules', 'input_rules: [{id: o, severity: low, match: {keywords: [x]}, decision: deny}]'],
  ])(
    'differs with the mode where an override has %s, so that installations which decide differently differ',
    (_, text) => {
      const both = { base: 'version: "1"', [id]: own(text) };

      expect(policyWith(both, 'extend').snapshot).not.toBe(policyWith(both, 'tighten').snapshot);
      expect(policyWith(both).snapshot).toBe(policyWith(both, 'tighten').snapshot);
    },
  );

  it('is the same without overrides', () => {
    const one = { base: 'default_decision: allow', 'secops/a': rules('id: a, decision: deny') };

    expect(policyWith(one, 'extend').snapshot).toBe(policyWith(one, 'tighten').snapshot);
  });

  it.each(['tighten', 'extend'] as const)('of a policy with a candidate is that of its mode: %s', (overrides) => {
    const base = parseDocument('version: "1"', 'base');

    const tried = tryCandidate(mergePolicies([base], { overrides }), { id, content: sources[id] ?? '' });

    expect(tried).toMatchObject({ ok: true, policy: { snapshot: policyWith(sources, overrides).snapshot } });
  });
});
