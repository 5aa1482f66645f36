import { parseScanners } from './parse-scanners';

const good = '{name: badge, regex: "DOCK-[A-Z]{4}", severity: critical, confidence: high, context_required: false}';
const file = (pattern = good, type = 'secret_leak', version = 'v1', name = 'secret') =>
  `version: ${version}\nscanners:\n  ${name}:\n    finding_type: ${type}\n    patterns:\n      - ${pattern}\n`;
const problems = (text: string) => {
  const parsed = parseScanners(text, { source: 'scanners.yaml' });
  return parsed.ok
    ? []
    : parsed.problems.map(({ line, column, path, message }) => ({ at: `${line}:${column}`, path, message }));
};

describe('parseScanners', () => {
  it('accepts the documented example', () => {
    expect(problems(file())).toEqual([]);
    expect(problems(file(good.replace(', context_required: false', '')))).toEqual([]);
  });

  it.each([
    ['an unknown version', file(good, 'secret_leak', 'v2'), '1:10', 'version', 'must be [v1]'],
    [
      'an unknown severity',
      file(good.replace('critical', 'bad')),
      '6:57',
      'scanners.secret.patterns.0.severity',
      'one of',
    ],
    [
      'an unknown confidence',
      file(good.replace('high', 'sure')),
      '6:79',
      'scanners.secret.patterns.0.confidence',
      'one of',
    ],
    ['an unknown finding type', file(good, 'smell'), '4:19', 'scanners.secret.finding_type', 'one of'],
    [
      'an unknown key',
      file(good.replace('name:', 'label: x, name:')),
      '6:17',
      'scanners.secret.patterns.0.label',
      'not allowed',
    ],
    [
      'a missing regex',
      file('{name: a, severity: low, confidence: low}'),
      '6:9',
      'scanners.secret.patterns.0.regex',
      'required',
    ],
    ['a broken regex', file(good.replace('[A-Z]', '[A-Z')), '6:30', 'scanners.secret.patterns.0.regex', 'RE2 class'],
    ['looking ahead', file(good.replace('DOCK', '(?=D)')), '6:30', 'scanners.secret.patterns.0.regex', 'linear-time'],
    ['looking behind', file(good.replace('DOCK', '(?<!D)')), '6:30', 'scanners.secret.patterns.0.regex', 'linear-time'],
    [
      'a back reference',
      file(good.replace('DOCK-', '(a)\\\\1')),
      '6:30',
      'scanners.secret.patterns.0.regex',
      'refers back',
    ],
    [
      'an endless regex',
      file(good.replace('DOCK', 'x'.repeat(1_020))),
      '6:30',
      'scanners.secret.patterns.0.regex',
      '1024',
    ],
    ['an empty regex', file(good.replace('DOCK-[A-Z]{4}', '')), '6:30', 'scanners.secret.patterns.0.regex', 'empty'],
    [
      'a regex of the empty text',
      file(good.replace('DOCK-[A-Z]{4}', 'a*')),
      '6:30',
      'scanners.secret.patterns.0.regex',
      'empty text',
    ],
    ['one name twice', file(`${good}\n      - ${good}`), '7:9', 'scanners.secret.patterns.1', 'duplicate'],
    [
      'one scanner under two names',
      file(good, 'custom', 'v1', 'injection') +
        file(good, 'custom', 'v1', 'code_injection').split('\n').slice(2).join('\n'),
      '0:0',
      'scanners',
      'two names',
    ],
    ['no YAML at all', 'version: [', '1:11', '', ''],
    ['nothing', '', '0:0', 'version', 'required'],
  ])('rejects %s with its position', (_, text, at, path, message) => {
    const found = problems(text);

    expect(found[0]).toEqual({ at, path, message: expect.stringContaining(message) });
  });

  it('reports every problem at once', () => {
    expect(problems(file(good.replace('critical', 'bad').replace('high', 'sure'), 'smell', 'v2'))).toHaveLength(4);
  });

  it('accepts a regex of 1024 characters', () => {
    expect(problems(file(good.replace('DOCK-[A-Z]{4}', 'x'.repeat(1_024))))).toEqual([]);
  });
});
