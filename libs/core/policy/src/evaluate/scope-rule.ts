import { isRecord } from '@svc/json';
import { fold } from '../compile/glob';
import { valuesAt } from '../compile/json-path';
import type { ScopeMatch } from '../document/policy-document';

export type ScopeResult =
  | { kind: 'within' }
  | { kind: 'violation'; detail: string }
  /** The content, its instruction or its items are missing. */
  | { kind: 'missing'; detail: string }
  /** The instruction names no category, so the items cannot be checked. */
  | { kind: 'ambiguous'; detail: string };

/**
 * Checks that every item belongs to a category the instruction names: "refund the shoes" may not refund a phone.
 * See docs/reference/policy.md#content-rules.
 */
export function checkScope(scope: ScopeMatch, document: unknown): ScopeResult {
  const instruction = valuesAt(document, scope.instruction_path).find((value) => typeof value === 'string');
  const items = valuesAt(document, scope.items_path).flatMap((value) => (Array.isArray(value) ? value : [value]));
  if (typeof instruction !== 'string' || instruction.trim() === '')
    return { kind: 'missing', detail: 'no instruction' };
  if (items.length === 0) return { kind: 'missing', detail: 'no items' };

  const aliases = new Map(Object.entries(scope.aliases ?? {}).map(([word, category]) => [fold(word), fold(category)]));
  const resolve = (category: string) => aliases.get(fold(category)) ?? fold(category);
  const found = items.map((item) => ({ name: getName(item, scope), category: getCategory(item, scope, resolve) }));
  const allowed = scope.allowed_categories?.map(resolve);
  const known = allowed ?? [...found.flatMap(({ category }) => category ?? []), ...aliases.values()];
  const words = [...known.map((category) => [category, category] as const), ...aliases];
  const named = new Set(words.filter(([word]) => mentions(instruction, word)).map(([, category]) => category));
  if (named.size === 0) return { kind: 'ambiguous', detail: 'the instruction names no category' };

  const stray = found.find(({ category }) => {
    return category === undefined || !named.has(category) || (allowed !== undefined && !allowed.includes(category));
  });
  if (!stray) return { kind: 'within' };
  return { kind: 'violation', detail: `${stray.name ?? 'an item'} is of category ${stray.category ?? 'unknown'}` };
}

function getCategory(item: unknown, scope: ScopeMatch, resolve: (category: string) => string): string | undefined {
  const value = valuesAt(item, scope.category_path)[0];
  return typeof value === 'string' && value.trim() !== '' ? resolve(value) : undefined;
}

function getName(item: unknown, { name_path }: ScopeMatch): string | undefined {
  const value = name_path === undefined || !isRecord(item) ? undefined : valuesAt(item, name_path)[0];
  return typeof value === 'string' ? value.slice(0, 100) : undefined;
}

/** Whole words only: "start" does not name `art`. */
function mentions(instruction: string, word: string): boolean {
  const splitWords = (text: string) =>
    ` ${fold(text)
      .split(/[^\p{L}\p{N}]+/u)
      .filter(Boolean)
      .join(' ')} `;
  return word !== '' && splitWords(instruction).includes(splitWords(word));
}
