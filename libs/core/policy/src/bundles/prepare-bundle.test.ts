import { prepareBundle } from './prepare-bundle';

const prepare = (text: string) => prepareBundle(text, 'secops/a');
function prepareContent(text: string): string {
  const prepared = prepare(text);
  if (!prepared.ok) throw new Error(JSON.stringify(prepared.problems));
  return prepared.content;
}

describe('prepareBundle', () => {
  it('removes keys without a value, and empty choices', () => {
    const text = [
      'version: "1"', 'default_decision: ""', "default_tenant: ''", 'input_policy: {fail_mode: "", enabled: true}',
      'rules:', '  - id: a', '    decision: deny', '    reason: null', '    match: {labels: {team: ~, crew: night}}',
      'output_rules:',
    ].join('\n'); // prettier-ignore

    const prepared = prepare(text);

    expect(prepared).toMatchObject({
      ok: true,
      document: { rules: [{ id: 'a', match: { labels: { crew: 'night' } } }], input_policy: { enabled: true } },
    });
    for (const gone of ['default_decision', 'default_tenant', 'fail_mode', 'reason', 'team', 'output_rules'])
      expect(prepareContent(text)).not.toContain(gone);
  });

  it('keeps an empty text elsewhere, since it may be meaningful', () => {
    expect(prepareContent('rules:\n  - {id: a, decision: deny, match: {labels: {team: ""}}}')).toContain('team: ""');
  });

  it.each([
    ['comments', '# why\nrules:\n  - id: a # this one\n    decision: deny\n'],
    ['long lines', `rules:\n  - {id: a, decision: deny, reason: ${'words and '.repeat(40)}}\n`],
    [
      'shared lists',
      'rules:\n  - {id: a, decision: deny, match: {topics: &t [job.a]}}\n  - {id: b, decision: deny, match: {topics: *t}}\n',
    ],
    ['several lines', 'rules:\n  - id: a\n    decision: deny\n    reason: |\n      one\n      two\n'],
    [
      'words that look like other things',
      'rules:\n  - {id: "1", decision: deny, match: {labels: {a: "true", b: "0x1", c: "null", d: "~"}}}\n',
    ],
  ])('keeps %s, and is idempotent', (_, text) => {
    const once = prepare(text);
    const again = prepare(prepareContent(text));

    expect(again).toEqual(once);
    expect(prepareContent(text)).toContain(text.includes('#') ? '# this one' : 'id:');
  });

  it('reports problems with the lines of the submitted text', () => {
    const text = 'default_decision:\ndefault_tenant:\nrules:\n  - id: a\n    reason:\n    decision: maybe';

    expect(prepare(text)).toMatchObject({ ok: false, problems: [{ line: 6, path: 'rules[0].decision' }] });
  });

  it('rejects an alias whose anchor would be removed', () => {
    const text = 'rules:\n  - {id: a, decision: deny, reason: &x null, match: {labels: {a: *x}}}';

    expect(prepare(text).ok).toBe(false);
  });

  it('rejects a text with too many values before checking it', () => {
    const bundle = (rules: number) =>
      `rules:\n${Array.from({ length: rules }, (_, i) => `  - {id: r${i}, decision: deny}\n`).join('')}`;

    expect(prepare(bundle(300)).ok).toBe(true);
    expect(prepare(bundle(20_000))).toMatchObject({
      ok: false,
      problems: [{ message: expect.stringMatching(/split it/) }],
    });
  });

  it('rejects deeply nested keys quickly', () => {
    const text = `${'{'.repeat(400)}a: 1${'}: 1'.repeat(399)}}`;

    expect(prepare(text).ok).toBe(false);
  });

  it.each(['', '# nothing', '[]', 'rules: [', 'a: 1\n---\nb: 2'])('rejects %j', (text) => {
    expect(prepare(text)).toMatchObject({ ok: false, problems: [{ source: 'secops/a' }] });
  });
});
