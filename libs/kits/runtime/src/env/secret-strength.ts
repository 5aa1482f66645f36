const commonParts = [
  'password', 'passwd', 'secret', 'admin', 'changeme', 'letmein', 'qwerty', 'welcome', 'default', 'example', '123456', 'abcdef', 'aaaaaa',
]; // prettier-ignore
const classes = [/[a-z]/, /[A-Z]/, /[0-9]/, /[^A-Za-z0-9]/];
const minEntropyBits = 3;

/**
 * Says why a secret is too easy to guess: its length, fewer than two kinds of characters, under
 * 3 bits of Shannon entropy a character, or a common word in it. Undefined when it is strong enough.
 */
export function findWeakness(secret: string, minLength: number): string | undefined {
  if (secret.length < minLength) return `at least ${minLength} characters`;
  if (classes.filter((kind) => kind.test(secret)).length < 2) return 'at least two kinds of characters';
  if (entropyBits(secret) < minEntropyBits) return 'fewer repeated characters';
  return commonParts.some((part) => secret.toLowerCase().includes(part)) ? 'no common words' : undefined;
}

function entropyBits(text: string): number {
  const counts = new Map<string, number>();
  for (const character of text) counts.set(character, (counts.get(character) ?? 0) + 1);
  return [...counts.values()].reduce((bits, n) => bits - (n / text.length) * Math.log2(n / text.length), 0);
}
