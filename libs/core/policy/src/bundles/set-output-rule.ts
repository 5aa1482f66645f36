import { isAlias, isMap, isSeq } from 'yaml';
import { readYaml, writeYaml } from './prepare-bundle';

/**
 * The text of a bundle with one of its output rules enabled or disabled; the rest of the text is unchanged.
 *
 * @returns undefined when there is no such rule
 */
export function setOutputRule(text: string, ruleId: string, enabled: boolean): string | undefined {
  const yaml = readYaml(text);
  const list = yaml.get('output_rules', true);
  const rules = isAlias(list) ? list.resolve(yaml) : list;
  if (!isSeq(rules)) return undefined;
  for (const [index, item] of rules.items.entries()) {
    const rule = isAlias(item) ? item.resolve(yaml) : item;
    if (!isMap(rule) || String(rule.get('id')) !== ruleId) continue;
    if (isAlias(item)) {
      // The anchor of the alias may be used elsewhere.
      const own = rule.clone();
      if (!isMap(own)) return undefined;
      delete own.anchor;
      own.set('enabled', enabled);
      rules.set(index, own);
    } else rule.set('enabled', enabled);
    return writeYaml(yaml);
  }
  return undefined;
}
