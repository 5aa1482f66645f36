/** Tests whether a text, already trimmed and lower-cased by `fold`, matches. */
export type TextTest = (folded: string) => boolean;

/** Strings are compared trimmed and case-insensitively. See docs/reference/policy.md#rules. */
export const fold = (text: string): string => text.trim().toLowerCase();

type Token = { kind: 'run' } | { kind: 'one'; accepts: (char: string) => boolean };

/** The fault of a glob, or undefined. See docs/reference/policy.md#rules. */
export function globFault(pattern: string): string | undefined {
  if (pattern.trim() === '') return 'is empty: write a name, or `*` for any';
  if (pattern.length > 512) return 'is longer than 512 characters';
  return tokens(fold(pattern)) ? undefined : 'has `[` without its `]`: close the class, or leave the bracket out';
}

/**
 * Compiles a glob: `*` is any run of characters except `/` (dots match), `?` one such character, `[a-z]` or `[!a-z]` a
 * class. Matching takes at most pattern times text. A glob with a fault matches nothing.
 */
export function compileGlob(pattern: string): TextTest {
  const folded = fold(pattern);
  if (!/[*?[]/.test(folded)) return (text) => text === folded;
  const prefix = folded.slice(0, -1);
  if (folded.endsWith('*') && !/[*?[]/.test(prefix)) {
    return (text) => text.startsWith(prefix) && !text.includes('/', prefix.length);
  }
  const parsed = tokens(folded);
  return parsed ? (text) => matchTokens(parsed, text) : () => false;
}

/** The literal prefix of every text that a glob matches. */
export function literalPrefix(pattern: string): string {
  const folded = fold(pattern);
  const end = folded.search(/[*?[]/);
  return end < 0 ? folded : folded.slice(0, end);
}

/** Specificity of a glob: names without wildcards first, then globs by their number of characters besides `*`. */
export function globNarrowness(pattern: string): number {
  const folded = fold(pattern);
  if (!/[*?[]/.test(folded)) return Infinity;
  return (tokens(folded) ?? []).filter(({ kind }) => kind === 'one').length;
}

/** Matches any of the patterns; plain names are looked up in a set, only globs are tried one by one. */
export function anyGlob(patterns: readonly string[]): TextTest {
  const names = new Set(patterns.filter((p) => !/[*?[]/.test(p)).map(fold));
  const globs = patterns.filter((p) => /[*?[]/.test(p)).map(compileGlob);
  const [only, ...others] = globs;
  if (!only) return (text) => names.has(text);
  if (names.size === 0 && others.length === 0) return only;
  return (text) => names.has(text) || globs.some((glob) => glob(text));
}

function tokens(pattern: string): Token[] | undefined {
  const list: Token[] = [];
  const chars = [...pattern];
  for (let i = 0; i < chars.length; i += 1) {
    const char = chars[i] ?? '';
    if (char === '*') {
      if (list.at(-1)?.kind !== 'run') list.push({ kind: 'run' });
    } else if (char === '?') list.push({ kind: 'one', accepts: (c) => c !== '/' });
    else if (char === '[') {
      // A `]` right after the opening bracket belongs to the class, as in shells.
      const end = chars.indexOf(']', i + (chars[i + 1] === '!' || chars[i + 1] === '^' ? 3 : 2));
      if (end < 0) return undefined;
      list.push({ kind: 'one', accepts: charClass(chars.slice(i + 1, end)) });
      i = end;
    } else list.push({ kind: 'one', accepts: (c) => c === char });
  }
  return list;
}

function charClass(body: readonly string[]): (char: string) => boolean {
  const negated = body[0] === '!' || body[0] === '^';
  const members = negated ? body.slice(1) : body;
  const ranges: [string, string][] = [];
  for (let i = 0; i < members.length; i += 1) {
    const from = members[i] ?? '';
    const to = members[i + 1] === '-' ? members[i + 2] : undefined;
    ranges.push([from, to ?? from]);
    if (to !== undefined) i += 2;
  }
  return (char) => char !== '/' && ranges.some(([from, to]) => from <= char && char <= to) !== negated;
}

/** Two-pointer matching: on a mismatch the last `*` takes one character more, so no case is exponential. */
function matchTokens(pattern: readonly Token[], text: string): boolean {
  const chars = [...text];
  let p = 0;
  let t = 0;
  let star = -1;
  let starTook = 0;
  while (t < chars.length) {
    const token = pattern[p];
    const char = chars[t] ?? '';
    if (token?.kind === 'one' && token.accepts(char)) {
      p += 1;
      t += 1;
    } else if (token?.kind === 'run') {
      star = p;
      starTook = t;
      p += 1;
    } else if (star >= 0 && chars[starTook] !== '/') {
      starTook += 1;
      t = starTook;
      p = star + 1;
    } else return false;
  }
  while (pattern[p]?.kind === 'run') p += 1;
  return p === pattern.length;
}
