/** A longer condition is not analysed and counts as a tautology. */
const MAX_CHARS = 4_096;

const literal = /(?:\d+(?:\.\d+)?|'[^']*'|"[^"]*")/.source;
const name = /[a-z_][\w.]*/.source;

const alwaysTrue: readonly RegExp[] = [
  new RegExp(`(?<![\\w.'"])(${literal}) ?(?:=|==|<=|>=|<=>|like|is) ?\\1(?![\\w.'"])`), // 1 = 1, 'a' = 'a'
  new RegExp(`(?<![\\w.])(${name}) ?(?:=|==|<=|>=|<=>|like) ?\\1(?![\\w.(])`), // owner = owner
  /(?:^|\bor |\()\s*(?:not false|true|not 0|(?<!\w)[1-9]\d*)\s*(?:$|\)|\b(?:or|and|limit|order)\b|;)/, // or true
  /\blike ?(?:'%+'|"%+")/, // like '%'
  new RegExp(`(?<![\\w.])(${name}) is (?:not )?null or \\1 is (?:not )?null`),
  new RegExp(`(?<![\\w.'"])(\\d+) ?(?:<>|!=) ?(?!\\1\\b)\\d+`), // 1 <> 2
  /(?<![\w.'"])(?:'[^']*'|"[^"]*") ?(?:<>|!=) ?(?:'[^']*'|"[^"]*")/, // 'a' <> 'b'
];

/**
 * Whether a raw SQL condition holds for every row, judged by its form: comments are removed, a literal or a name is
 * compared with itself, two literals with each other, or `true` is alone. It detects typical injections and does not
 * prove tautologies. See docs/reference/policy.md#action-checks.
 */
export function isTautology(where: string): boolean {
  if (where.length > MAX_CHARS) return true;
  const plain = where
    .toLowerCase()
    .replace(/\/\*.*?\*\//gs, ' ')
    .replace(/(?:--|#).*$/gm, ' ')
    .replaceAll('||', ' or ')
    .replace(/\s+/g, ' ')
    .trim();
  return plain === '' || alwaysTrue.some((form) => form.test(plain)) || isNumbersOnly(plain);
}

/** Comparisons of two numbers, such as `2 > 1`. */
function isNumbersOnly(plain: string): boolean {
  for (const [, left, operator, right] of plain.matchAll(/(?<![\w.])(\d{1,9}) ?(<|>) ?(\d{1,9})(?![\w.])/g)) {
    if (operator === '<' ? Number(left) < Number(right) : Number(left) > Number(right)) return true;
  }
  return false;
}
