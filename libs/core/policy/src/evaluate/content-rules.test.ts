import { ask, buildPolicy, verdict } from '../policy.testing';
import type { ContentFinding, ContentNeeds, ScanContent } from './content';

/** Finds the needs whose name occurs in the content: `secret` for scanners, types and keywords alike. */
const byName: ScanContent = (content, needs) => {
  const text = new TextDecoder().decode(content);
  const named = [...needs.scanners, ...needs.detectors, ...needs.keywords].filter((name) => text.includes(name));
  const patterns = needs.patterns.filter(({ regex }) => regex.matcher(text).find()).map(({ source }) => source);
  return [...named, ...patterns].map((type): ContentFinding => ({ type, severity: 'medium', confidence: 0.5 }));
};
const policy = (rules: string, more = '') => buildPolicy(`default_decision: allow\n${more}\ninput_rules:\n${rules}`);
const deny = (match: string, more = '') => `  - {id: r, decision: deny, match: ${match}${more}}`;
const asked = (rules: string, content: string | undefined, more = '') =>
  verdict(policy(rules, more), content === undefined ? {} : { input_content: content }, { scanContent: byName });

describe('content rules', () => {
  it.each([
    ['{scanners: [secret]}', 'a secret', 'DENY'],
    ['{scanners: [secret]}', 'nothing', 'ALLOW'],
    ['{scanners: [secret]}', undefined, 'ALLOW'],
    ['{detectors: [custom]}', 'custom', 'DENY'],
    ['{keywords: [wipe]}', 'please wipe', 'DENY'],
    ['{content_patterns: ["w.pe"]}', 'please wipe', 'DENY'],
    ['{patterns: ["w.pe"]}', 'please', 'ALLOW'],
    ['{topics: [job.b], scanners: [secret]}', 'a secret', 'ALLOW'],
    ['{topics: [job.a]}', undefined, 'DENY'],
    ['{input_size_gt: 4}', '12345', 'DENY'],
    ['{max_input_bytes: 4}', '1234', 'ALLOW'],
    ['{max_input_bytes: 3}', 'ää', 'DENY'],
    ['{input_size_gt: 4, scanners: [secret]}', '12345', 'DENY'],
    ['{content_types: ["text/*"], keywords: [x]}', 'x', 'ALLOW'],
  ])('%s on %p: %s', (match, content, expected) => {
    expect(asked(deny(match), content)[0]).toBe(expected);
  });

  it('matches the content type without its parameters, and the prompt when there is no content', () => {
    const typed = policy(deny('{content_types: ["text/*"], keywords: [x]}'));
    const request = { labels: { '_content.prompt': 'x' }, input_content_type: 'Text/Plain; charset=utf-8' };

    expect(ask(typed, request, { scanContent: byName })).toMatchObject({
      decision: 'DENY',
      rule_id: 'r',
      findings: [{ type: 'x' }],
    });
  });

  it('runs only after a permission, in order, and not when disabled', () => {
    const rules = `  - {id: off, enabled: false, decision: deny}\n  - {id: first, decision: require_approval}\n${deny('{}')}`;

    expect(asked(rules, 'x')).toEqual(['REQUIRE_APPROVAL', 'first']);
    expect(asked(rules, 'x', 'input_policy: {enabled: false}')).toEqual(['ALLOW', '']);
    const denying = buildPolicy(`rules: [{id: no, decision: throttle, throttle_duration: 1s}]\ninput_rules:\n${rules}`);
    expect(verdict(denying, {})).toEqual(['THROTTLE', 'no']);
  });

  it('a denial on weak evidence becomes an approval, and optionally one on prompts alone', () => {
    const severity = 'require_human: {min_severity_for_deny: high}';
    const confidence = 'require_human: {min_confidence_for_deny: high}';
    const enough = 'require_human: {min_severity_for_deny: medium, min_confidence_for_deny: 0.5}';
    const prompt = 'require_human: {downgrade_when_prompt_only: true}';
    const rule = deny('{scanners: [secret]}', ', reason: why');

    expect([severity, confidence, enough, prompt].map((more) => asked(rule, 'secret', more)[0])).toEqual([
      'REQUIRE_APPROVAL',
      'REQUIRE_APPROVAL',
      'DENY',
      'REQUIRE_APPROVAL',
    ]);
    const withAction = ask(policy(rule, prompt), { input_content: 'secret', action: {} }, { scanContent: byName });
    expect(withAction).toMatchObject({ decision: 'DENY', reason: 'why' });
  });

  describe('an incomplete scan', () => {
    const rule = deny('{scanners: [secret]}');
    const open = 'input_policy: {fail_mode: open, max_scan_bytes: 8}';
    const closed = 'input_policy: {max_scan_bytes: 8}';

    it('findings in the scanned part still count', () => {
      expect(asked(rule, 'a secret and much more', open)).toEqual(['DENY', 'r']);
    });

    it('closed requires an approval; open continues and reports it', () => {
      expect(asked(rule, '12345678secret', closed)).toEqual(['REQUIRE_APPROVAL', '']);
      const went = ask(policy(rule, open), { input_content: '12345678secret' }, { scanContent: byName });
      expect(went).toMatchObject({ decision: 'ALLOW', findings: [{ type: 'content_truncated', severity: 'low' }] });
      expect(asked(rule, '12345678', closed)).toEqual(['ALLOW', '']);
    });

    it('an overrun or a missing scanner applies the fail mode and is not retried', () => {
      let scans = 0;
      const overrun: ScanContent = () => {
        scans += 1;
        return 'overrun';
      };
      const two = `${rule}\n  - {id: s, decision: deny, match: {keywords: [x]}}`;

      expect(verdict(policy(two), { input_content: 'x' }, { scanContent: overrun })).toEqual(['REQUIRE_APPROVAL', '']);
      expect(scans).toBe(1);
      expect(verdict(policy(two, open), { input_content: 'x' }, { scanContent: overrun })).toEqual(['ALLOW', '']);
      expect(verdict(policy(two), { input_content: 'x' })).toEqual(['REQUIRE_APPROVAL', '']);
    });
  });

  it('scans once for rules with the same needs', () => {
    const seen: ContentNeeds[] = [];
    const noting: ScanContent = (_, needs) => {
      seen.push(needs);
      return [];
    };

    const rules = `${deny('{scanners: [pii]}')}\n  - {id: s, decision: deny, match: {topics: [job.a], scanners: [pii]}}`;
    verdict(policy(rules), { input_content: 'x' }, { scanContent: noting });

    expect(seen.map(({ scanners }) => scanners)).toEqual([['pii']]);
  });
});

describe('a scope rule', () => {
  const scope = (more = '') =>
    `  - {id: r, decision: require_approval, match: {scope: {instruction_path: $.ask, items_path: "$.cart.items[*]", category_path: kind, name_path: name${more}}}}`;
  const content = (ask: unknown, ...kinds: unknown[]) =>
    JSON.stringify({ ask, cart: { items: kinds.map((kind) => ({ kind, name: `a ${kind}` })) } });

  it.each([
    ['refund the shoes', ['shoes'], '', 'ALLOW'],
    ['refund the Shoes!', ['SHOES', 'shoes'], '', 'ALLOW'],
    ['refund the shoes', ['shoes', 'phones'], '', 'REQUIRE_APPROVAL'],
    ['refund the shoes', ['shoes', 7], '', 'REQUIRE_APPROVAL'],
    ['refund the boots', ['shoes'], ', aliases: {boots: shoes}', 'ALLOW'],
    ['refund shoes and phones', ['phones'], ', allowed_categories: [shoes]', 'REQUIRE_APPROVAL'],
    ['start it', ['art'], '', 'DENY'],
    ['start it', ['art'], ', on_ambiguous: require_approval', 'REQUIRE_APPROVAL'],
    ['start it', ['art'], ', on_ambiguous: allow', 'ALLOW'],
    [undefined, ['art'], '', 'DENY'],
    ['refund', [], '', 'DENY'],
    ['refund', [], ', on_missing_input: allow', 'ALLOW'],
  ])('%p with %j %s: %s', (instruction, kinds, more, expected) => {
    expect(asked(scope(more), content(instruction, ...kinds))[0]).toBe(expected);
  });

  it('absent content is missing', () => {
    expect(asked(scope(), undefined)).toEqual(['DENY', 'r']);
    expect(ask(policy(scope()), {}).findings).toMatchObject([{ type: 'content_required_but_missing' }]);
  });

  it('reports the item outside the scope', () => {
    const { findings } = ask(policy(scope()), { input_content: content('refund shoes', 'shoes', 'phones') });

    expect(findings).toMatchObject([{ type: 'scope_violation', detail: 'a phones is of category phones' }]);
  });
});
