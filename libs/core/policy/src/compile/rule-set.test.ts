import fc from 'fast-check';
import { compileRule, type CompiledRule } from './compile-rule';
import { fold } from './glob';
import { RuleSet } from './rule-set';

const buildRule = (id: string, topics: readonly string[] | undefined): CompiledRule =>
  compileRule({
    rule: { id, decision: 'allow', ...(topics && { match: { topics: [...topics] } }) },
    source: 's',
    tier: 'global',
    selector: {},
  });
const ids = (rules: readonly CompiledRule[]) => rules.map(({ id }) => id);

describe('rules by topic', () => {
  const piece = fc.constantFrom('job.', 'a', 'B', '.', '*', '?', '[ab]', 'team-1', '/', ' ');
  const pattern = fc.array(piece, { minLength: 1, maxLength: 6 }).map((pieces) => pieces.join(''));
  const topic = fc
    .array(fc.constantFrom('job.', 'a', 'b', '.', 'team-1', '/', 'c'), { maxLength: 6 })
    .map((pieces) => pieces.join(''));

  it('are the matching ones, in their order', () => {
    fc.assert(
      fc.property(
        fc.array(fc.option(fc.array(pattern, { minLength: 1, maxLength: 3 }), { nil: undefined }), { maxLength: 30 }),
        fc.array(topic, { minLength: 1, maxLength: 10 }),
        (patterns, topics) => {
          const rules = patterns.map((each, i) => buildRule(`r${i}`, each));
          const set = new RuleSet(rules);
          for (const asked of [...topics, ...topics].map(fold)) {
            const one = rules.filter((rule) => rule.topics === undefined || rule.topics.fit(asked));
            expect(ids(set.forTopic(asked))).toEqual(ids(one));
          }
        },
      ),
    );
  });

  it('are found without evaluating the others', () => {
    let tried = 0;
    const rules = Array.from({ length: 10_000 }, (_, i) => {
      const rule = buildRule(`r${i}`, [`job.team-${i}.*`]);
      return {
        ...rule,
        topics: rule.topics && {
          prefixes: rule.topics.prefixes,
          fit: (text: string) => {
            tried += 1;
            return rule.topics?.fit(text) ?? false;
          },
        },
      };
    });
    const set = new RuleSet(rules);

    for (let i = 0; i < 10_000; i++) expect(ids(set.forTopic(`job.team-${i}.berth`))).toEqual([`r${i}`]);

    expect(tried).toBe(10_000);
  });
});
