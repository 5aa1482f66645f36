/**
 * Topic patterns follow NATS subject rules: `*` matches one token, `>` the rest. See docs/subjects.md.
 */
export function matchesTopic(pattern: string, topic: string): boolean {
  if (!pattern.includes('*')) {
    if (!pattern.includes('>')) return pattern === topic;
    if (pattern.indexOf('.>') === pattern.length - 2) return topic.startsWith(pattern.slice(0, -1));
  }
  const wanted = pattern.split('.');
  const tokens = topic.split('.');
  for (const [i, token] of wanted.entries()) {
    if (token === '>') return tokens.length > i;
    if (tokens[i] === undefined || (token !== '*' && token !== tokens[i])) return false;
  }
  return wanted.length === tokens.length;
}

/** Higher wins: an exact name, then more literal tokens, then longer, then `*` before `>`. */
function specificity(pattern: string): [number, number, number] {
  const tokens = pattern.split('.');
  const literal = tokens.filter((token) => token !== '*' && token !== '>').length;
  return [literal, tokens.length, pattern.includes('>') ? 0 : 1];
}

type Match<T> = { pattern: string; value: T } | undefined;

/** Bounds the memory for topics that clients invent. */
const MAX_REMEMBERED = 1_024;
const matchesOf = new WeakMap<object, Map<string, Match<unknown>>>();

/**
 * The most specific matching entry of a table keyed by patterns, or undefined. The result is remembered with the table,
 * which must not change.
 */
export function bestMatch<T>(table: Readonly<Record<string, T>>, topic: string): Match<T> {
  let matches = matchesOf.get(table) as Map<string, Match<T>> | undefined;
  if (!matches || matches.size >= MAX_REMEMBERED) matchesOf.set(table, (matches = new Map()));
  if (matches.has(topic)) return matches.get(topic);
  const match = findBestMatch(table, topic);
  matches.set(topic, match);
  return match;
}

function findBestMatch<T>(table: Readonly<Record<string, T>>, topic: string): Match<T> {
  if (Object.hasOwn(table, topic)) return { pattern: topic, value: table[topic] as T };
  const fitting = Object.keys(table)
    .filter((pattern) => matchesTopic(pattern, topic))
    .sort((a, b) => {
      const [x, y] = [specificity(a), specificity(b)];
      return y[0] - x[0] || y[1] - x[1] || y[2] - x[2] || (a < b ? -1 : 1);
    });
  const [pattern] = fitting;
  return pattern === undefined ? undefined : { pattern, value: table[pattern] as T };
}
