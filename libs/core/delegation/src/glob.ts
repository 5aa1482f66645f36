/** Whether a pattern covers a text. `*` stands for any characters, also none. Takes time proportional to the product of both. */
export function covers(pattern: string, text: string): boolean {
  const [head = '', ...rest] = pattern.split('*');
  const tail = rest.pop();
  if (tail === undefined) return pattern === text;
  if (!text.startsWith(head) || text.length < head.length + tail.length || !text.endsWith(tail)) return false;
  let at = head.length;
  const end = text.length - tail.length;
  for (const part of rest) {
    const found = text.indexOf(part, at);
    if (found === -1 || found + part.length > end) return false;
    at = found + part.length;
  }
  return true;
}

/** Whether one of the patterns covers the text. An empty list covers nothing. */
export const coversAny = (patterns: readonly string[], text: string): boolean =>
  patterns.some((pattern) => covers(pattern, text));

/**
 * The patterns that permit no more than the granted ones. A pattern is compared as text, in which only a `*` of the granted
 * pattern covers a `*`: so whatever the narrower pattern covers, the granted one covers too.
 *
 * @returns those that none of the granted patterns covers
 */
export const findExcess = (wanted: readonly string[], granted: readonly string[]): string[] =>
  wanted.filter((pattern) => !coversAny(granted, pattern));

/** The part that two lists of patterns have in common, as far as a list of their patterns can express it. */
export const intersect = (a: readonly string[], b: readonly string[]): string[] => [
  ...new Set([...a.filter((pattern) => coversAny(b, pattern)), ...b.filter((pattern) => coversAny(a, pattern))]),
];
