import type { MergeField, MergeRule } from './setting-merge';
import { settingMerge, settingSections } from './setting-sections';

interface SchemaDescription {
  keys?: Record<string, SchemaDescription>;
}

const settingsUnder = (path: string, { keys = {} }: SchemaDescription): string[] => {
  const inner = Object.entries(keys).flatMap(([name, one]) => settingsUnder(`${path}.${name}`, one));
  return inner.length > 0 ? inner : [path];
};
const settings = Object.entries(settingSections).flatMap(([name, schema]) =>
  settingsUnder(name, schema.describe() as SchemaDescription),
);

/** The rules that apply to a setting: its own, and those of its groups and section. */
const findRules = (path: string): MergeRule[] => {
  const rules: MergeRule[] = [];
  let fields: Readonly<Record<string, MergeField>> | undefined = settingMerge;
  for (const name of path.split('.')) {
    const field: MergeField | undefined = fields?.[name];
    if (field?.rule) rules.push(field.rule);
    fields = field?.fields;
  }
  return rules;
};
const findRule = (path: string) => findRules(path)[0];

/** Settings that are not restrictions despite their names. */
const free = ['retry.max_retries', 'retry.max_backoff'];
const restrictive =
  /\.(max_|allow|deny|denied|blocked_|dangerous_|require|concurrent_|requests_per)|fail_mode|_detection$/;

describe('the merge of config documents', () => {
  it.each(settings)('%s: exactly one rule is declared, for the setting or for its section', (path) => {
    expect(findRules(path).map(({ kind }) => kind)).toHaveLength(1);
  });

  it('restricts for every setting of safety, limits and rate_limits', () => {
    const inside = settings.filter((path) => /^(safety|limits|rate_limits)\./.test(path));

    expect(inside.filter((path) => findRule(path)?.kind === 'narrowest')).toEqual([]);
    expect(inside.length).toBeGreaterThan(20);
  });

  it('restricts for every setting with the name of a restriction', () => {
    const named = settings.filter((path) => restrictive.test(path) && !free.includes(path));
    // A setting that is read from system/default only cannot be relaxed by another document.
    const anywhere = named.filter((path) => !/^(policy|boundary_hardening)\./.test(path));

    expect(anywhere.filter((path) => findRule(path)?.kind === 'narrowest')).toEqual([]);
  });

  it('refers to existing settings', () => {
    const referred = settings.flatMap((path) => {
      const rule = findRule(path);
      const group = path.slice(0, path.lastIndexOf('.'));
      if (rule?.kind === 'limit') return rule.otherwise ?? [];
      if (rule?.kind === 'added') return rule.to;
      if (rule?.kind === 'every_list') return rule.joins ? `${group}.${rule.joins}` : [];
      return rule?.kind === 'joined' ? `${group}.${rule.into}` : [];
    });

    expect(referred.filter((path) => !settings.includes(path))).toEqual([]);
    expect(referred.length).toBeGreaterThan(4);
  });

  it('orders all values of a choice', () => {
    for (const path of settings) {
      const rule = findRule(path);
      if (rule?.kind !== 'strictest') continue;
      const [section = '', ...inner] = path.split('.');
      const { type, allow = [] } = settingSections[section]?.extract(inner).describe() as { type: string; allow?: unknown[] };
      expect([...rule.order].sort()).toEqual((type === 'boolean' ? [true, false] : [...allow]).sort());
    }
  }); // prettier-ignore
});
