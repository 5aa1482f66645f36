import fc from 'fast-check';
import { parsePolicy } from './parse-policy';

const getProblems = (text: string, mode: 'write' | 'load' = 'write') => {
  const parsed = parsePolicy(text, { source: 'secops/x', mode });
  return parsed.ok ? [] : parsed.problems;
};
const rule = (fields: string) => `rules:\n  - {id: a, decision: deny, ${fields}}`;
const inputRule = (fields: string) => `input_rules:\n  - {id: a, decision: deny, ${fields}}`;
const outputRule = (fields: string) => `output_rules:\n  - {id: a, decision: quarantine, ${fields}}`;

describe('parsePolicy', () => {
  it('reports every problem of a document at once, with line and column', () => {
    const text = [
      'version: "1"',
      'defualt_decision: deny',
      'rules:',
      '  - id: pace',
      '    match: {topics: [job.a], risk_tgas: [x]}',
      '    decision: throttle',
      '  - id: pace',
      '    decision: perhaps',
      '    throttle_duration: soon',
      'output_rules:',
      '  - id: out',
      '    decision: quarantine',
      '    match: {content_patterns: ["(?=x)y"]}',
      '  - decision: allow',
    ].join('\n');

    const problems = getProblems(text);

    expect(problems.map(({ line, column, path }) => [line, column, path])).toEqual([
      [2, 1, 'defualt_decision'],
      [4, 5, 'rules[0].throttle_duration'],
      [5, 30, 'rules[0].match.risk_tgas'],
      [7, 9, 'rules[1].id'],
      [8, 15, 'rules[1].decision'],
      [9, 24, 'rules[1].throttle_duration'],
      [13, 32, 'output_rules[0].match.content_patterns[0]'],
      [14, 5, 'output_rules[1].id'],
    ]);
    expect(problems.every(({ source }) => source === 'secops/x')).toBe(true);
  });

  it('says how to fix each problem', () => {
    expect(getProblems('rulez: []')[0]?.message).toContain('known are default_decision, default_tenant');
    expect(getProblems(rule('velocity: {max_requests: 1, window_seconds: 1, key: ip}'))[0]?.message).toContain(
      'labels.<key>',
    );
    expect(getProblems(rule('match: {topics: job.a}'))[0]?.message).toBe('must be a list, such as [a, b]');
  });

  it.each([
    ['nothing at all', '', 'empty'],
    ['a comment only', '# nothing', 'empty'],
    ['a list', '- 1', 'must be a map'],
    ['broken YAML', 'rules: [', 'not valid YAML'],
    ['an unknown tag', 'version: !!js/function "x"', 'not valid YAML'],
    ['a key written twice', 'version: "1"\nversion: "2"', 'written twice'],
    ['two documents', 'version: "1"\n---\nversion: "2"', 'one document'],
    ['an anchor that is not there', 'version: *v', 'alias'],
    ['an unknown tier', 'tier: planet', '"planet" is not one of global, workflow, job'],
    ['a tier without its selector', 'tier: job', 'needs job_id or session_id'],
    [
      'a selector of another tier',
      'tier: workflow\nselector: {workflow_id: w, job_id: j}',
      'does not go with tier workflow',
    ],
    ['a selector without a tier', 'selector: {job_id: j}', 'only with tier workflow or job'],
    ['an empty selector', 'tier: job\nselector: {}', 'must name job_id or session_id'],
    [
      'a rule wider than its document',
      `tier: job\nselector: {job_id: j}\n${rule('tier: global')}`,
      'wider than the document',
    ],
    ['a default that only rules can have', 'default_decision: throttle', 'not one of allow, deny'],
    ['an empty id', 'rules:\n  - {id: "", decision: deny}', 'must not be empty'],
    ['a long id', `rules:\n  - {id: ${'x'.repeat(129)}, decision: deny}`, 'at most 128'],
    ['no decision', 'rules:\n  - {id: a}', 'is missing'],
    ['a throttle without duration', 'rules:\n  - {id: a, decision: Throttle}', 'needs one, such as 30s'],
    ['a hold without its severity', outputRule('hold: true, severity: high'), 'severity critical only'],
    ['a duration of nothing', rule('throttle_duration: 0s'), 'not a duration'],
    ['an unclosed class', rule('match: {topics: ["job.[a"]}'), 'close the class'],
    ['an unknown actor type', rule('match: {actor_types: [robot]}'), 'not one of human, service'],
    ['a threshold in quotes', rule('match: {metadata: {amount_gt: "250"}}'), 'must be a number'],
    ['a predicate of another language', rule('match: {predicate: "true || x"}'), 'is not a predicate'],
    [
      'a window of more than a day',
      rule('velocity: {max_requests: 1, window_seconds: 86401, key: tenant}'),
      'at most 86400',
    ],
    ['a velocity of nothing', rule('velocity: {max_requests: 0, window_seconds: 1, key: tenant}'), 'at least 1'],
    ['a negative budget', rule('constraints: {budgets: {max_retries: -1}}'), 'at least 0'],
    ['a fraction of a retry', rule('constraints: {budgets: {max_retries: 1.5}}'), 'whole number'],
    ['too large an output', rule('constraints: {max_output_bytes: 16777217}'), 'at most 16777216'],
    ['a remediation without id', rule('remediations: [{title: x}]'), 'is missing'],
    ['an unknown mcp list', rule('match: {mcp: {allow: [x]}}'), 'not a key known here'],
    ['a permitting content rule', 'input_rules:\n  - {id: a, decision: allow}', 'not one of deny, require_approval'],
    ['an unknown scanner', inputRule('match: {scanners: [nose]}'), 'not one of the scanners'],
    ['an unknown detector', outputRule('match: {detectors: [nose]}'), 'not one of secret_leak'],
    ['a scope without its paths', inputRule('match: {scope: {items_path: $.items, category_path: c}}'), 'is missing'],
    [
      'a path that is none',
      inputRule('match: {scope: {instruction_path: "a[", items_path: b, category_path: c}}'),
      'not a path',
    ],
    [
      'a redaction of nothing',
      'output_rules:\n  - {id: a, decision: redact, match: {topics: [job.a]}}',
      'what they find',
    ],
    ['an unknown fail mode', 'output_policy: {fail_mode: ajar}', 'not one of open, closed'],
    ['a confidence above one', 'require_human: {min_confidence_for_deny: 2}', 'from 0 to 1'],
    ['a number for a flag', outputRule('match: {has_error: 1}'), 'true or false'],
    ['a look-ahead', outputRule('match: {content_patterns: ["a(?!b)"]}'), 'looks ahead or behind'],
    ['a back-reference', outputRule('match: {content_patterns: ["(a)\\\\1"]}'), 'refers back to a group'],
    ['an unclosed group', outputRule('match: {content_patterns: ["(a"]}'), 'RE2 class'],
    ['a long pattern', outputRule(`match: {content_patterns: ["${'x'.repeat(1_025)}"]}`), 'longer than 1024'],
    ['65 alternatives', outputRule(`match: {content_patterns: ["${'x|'.repeat(64)}y"]}`), 'has 65 alternatives'],
  ])('rejects %s', (_, text, message) => {
    const messages = getProblems(text).map((problem) => problem.message);

    expect(messages.join('\n')).toContain(message);
    expect(getProblems(text).every(({ line, column }) => line >= 1 && column >= 1)).toBe(true);
  });

  it.each([
    ['permit', 'allow'],
    ['Block', 'deny'],
    ['require-human', 'require_approval'],
    ['REQUIRE-APPROVAL', 'require_approval'],
    ['allow-with-constraints', 'allow_with_constraints'],
  ])('reads the decision %s as %s', (written, meant) => {
    const parsed = parsePolicy(`rules:\n  - {id: a, decision: ${written}}`, { source: 's', mode: 'write' });

    expect(parsed.ok && parsed.document.rules[0]?.decision).toBe(meant);
  });

  it('reads an unknown decision as deny on load, and rejects everything else', () => {
    const words =
      'rules: [{id: a, decision: maybe}]\ninput_rules: [{id: b, decision: allow}]\noutput_rules: [{id: c, decision: eat}]';

    const loaded = parsePolicy(words, { source: 's', mode: 'load' });

    expect(
      loaded.ok && [loaded.document.rules, loaded.document.input_rules, loaded.document.output_rules].flat(),
    ).toEqual([
      { id: 'a', decision: 'deny' },
      { id: 'b', decision: 'deny', enabled: true },
      { id: 'c', decision: 'deny', enabled: true },
    ]);
    expect(getProblems(words)).toHaveLength(3);
    expect(getProblems('tier: planet', 'load')).toHaveLength(1);
  });

  it('fills in defaults, accepts an unquoted version, and treats keys without a value as absent', () => {
    const text = 'version: 3\nrules:\ntenants:\ndefault_decision:\ndefault_tenant: ""\noutput_policy: {fail_mode: }';

    expect(parsePolicy(text, { source: 's', mode: 'write' })).toEqual({
      ok: true,
      document: {
        source: 's',
        version: '3',
        tier: 'global',
        rules: [],
        input_rules: [],
        output_rules: [],
        tenants: {},
        output_policy: { enabled: false, fail_mode: 'closed' },
      },
    });
  });

  it('reports positions behind anchors, and rejects alias bombs', () => {
    const shared =
      'rules:\n  - {id: a, decision: deny, match: &m {topcs: [x]}}\n  - {id: b, decision: deny, match: *m}';
    const bomb = `rules:\n${'abcdefgh'
      .split('')
      .map(
        (name, i, all) =>
          `  - &${name} [${
            i === 0
              ? 'x'
              : Array(9)
                  .fill(`*${all[i - 1]}`)
                  .join(', ')
          }]`,
      )
      .join('\n')}`;

    expect(getProblems(shared).map(({ line, column }) => [line, column])).toEqual([
      [2, 40],
      [2, 40],
    ]);
    expect(getProblems(bomb)[0]?.message).toContain('more than 50 times');
  });

  it('accepts nested quantifiers, which are linear in this engine', () => {
    expect(getProblems(outputRule('match: {content_patterns: ["([a-z]+\\\\.)+example"]}'))).toEqual([]);
  });

  it('never throws, and a rejection always has a problem', () => {
    const word = fc.constantFrom(
      'rules',
      'match',
      'id',
      '__proto__',
      'tenants',
      '? [a]',
      '&a',
      '*a',
      '-',
      ':',
      '{',
      '[',
      '\n',
      '  ',
      '1',
      '!!x',
    );
    const text = fc.oneof(
      fc.string(),
      fc.array(word, { maxLength: 30 }).map((words) => words.join(' ')),
      fc.json(),
    );
    fc.assert(
      fc.property(text, fc.constantFrom('write' as const, 'load' as const), (yaml, mode) => {
        const parsed = parsePolicy(yaml, { source: 's', mode });
        expect(parsed.ok || parsed.problems.length > 0).toBe(true);
      }),
      { numRuns: 1_500 },
    );
  });
});
