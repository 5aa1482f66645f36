import { parseDocument } from '../policy.testing';
import { setOutputRule } from './set-output-rule';

const getEnabled = (text: string | undefined) =>
  Object.fromEntries(parseDocument(text ?? '').output_rules.map(({ id, enabled }) => [id, enabled]));

describe('setOutputRule', () => {
  const text =
    '# ours\noutput_rules:\n  - id: a # first\n    decision: deny\n  - {id: b, enabled: false, decision: deny}\n';

  it('enables or disables one rule and leaves the rest of the text unchanged', () => {
    expect(getEnabled(setOutputRule(text, 'a', false))).toEqual({ a: false, b: false });
    expect(getEnabled(setOutputRule(text, 'b', true))).toEqual({ a: true, b: true });
    expect(setOutputRule(text, 'b', true)).toMatch(/^# ours\noutput_rules:\n {2}- id: a # first\n/);
  });

  it('changes a rule that is an alias without its anchor', () => {
    const shared = 'output_rules:\n  - &r {id: a, decision: deny}\nrules: []\n';
    expect(getEnabled(setOutputRule(shared, 'a', false))).toEqual({ a: false });

    const twice = 'input_rules:\n  - &r {id: a, decision: deny}\noutput_rules:\n  - *r\n';
    const turned = parseDocument(setOutputRule(twice, 'a', false) ?? '');
    expect([turned.input_rules[0]?.enabled, turned.output_rules[0]?.enabled]).toEqual([true, false]);
  });

  it.each([
    ['a rule that does not exist', text, 'c'],
    ['no list', 'rules: []', 'a'],
    ['no YAML', 'output_rules: [', 'a'],
  ])('undefined for %s', (_, bundle, id) => {
    expect(setOutputRule(bundle, id, true)).toBeUndefined();
  });
});
