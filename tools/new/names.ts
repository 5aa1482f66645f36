import { Refusal } from './repository';

/** @throws Refusal unless the name is kebab-case, such as `usage-reports` */
export function requireKebabCase(name: string | undefined, what: string): asserts name is string {
  if (name === undefined) throw new Refusal(`${what} is missing`);
  const isKebab = name.split('-').every((part) => /^[a-z0-9]+$/.test(part)) && /^[a-z]/.test(name);
  if (!isKebab) throw new Refusal(`${what} must be kebab-case, such as usage-reports; got ${JSON.stringify(name)}`);
}

export const camel = (kebab: string): string =>
  kebab
    .split('-')
    .map((part, i) => (i === 0 ? part : capitalized(part)))
    .join('');

export const pascal = (kebab: string): string => capitalized(camel(kebab));

/** `usage-reports` as it begins a sentence: `Usage reports`. */
export const sentence = (kebab: string): string => capitalized(kebab.replaceAll('-', ' '));

/** `usage-report` as its collection is named: `usage-reports`. */
export function plural(kebab: string): string {
  if (kebab.endsWith('s')) return kebab;
  return /[^aeiou]y$/.test(kebab) ? `${kebab.slice(0, -1)}ies` : `${kebab}s`;
}

const capitalized = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);
