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

/** The most specific matching entry of a table keyed by patterns, or undefined. */
export function bestMatch<T>(
  table: Readonly<Record<string, T>>,
  topic: string,
): { pattern: string; value: T } | undefined {
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
