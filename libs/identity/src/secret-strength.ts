/** Shortest secrets taken in production, in characters. Identity contract 2.4. */
export const secretMinLength = { admin_password: 16, api_key: 32, store_password: 12 } as const;
export type SecretKind = keyof typeof secretMinLength;

const weak = [
  'password', 'passwd', 'secret', 'changeme', 'default', 'admin', 'qwerty', 'letmein', 'welcome', 'example', '123456',
]; // prettier-ignore

/** Shannon entropy, bits per character. */
function entropy(text: string): number {
  const counts = new Map<string, number>();
  for (const character of text) counts.set(character, (counts.get(character) ?? 0) + 1);
  const total = [...text].length;
  return [...counts.values()].reduce((sum, n) => sum - (n / total) * Math.log2(n / total), 0);
}

/**
 * Why a secret is too weak for production, or undefined. The reason never quotes the secret. Identity contract 2.4.
 *
 * @returns a clause to put behind the variable's name, such as `must have at least 32 characters`
 */
export function secretProblem(kind: SecretKind, secret: string): string | undefined {
  const classes = [/[a-z]/, /[A-Z]/, /[0-9]/, /[^A-Za-z0-9]/].filter((pattern) => pattern.test(secret)).length;
  if ([...secret].length < secretMinLength[kind]) return `must have at least ${secretMinLength[kind]} characters`;
  if (classes < 2) return 'must mix at least two of lower case, upper case, digits and other characters';
  if (entropy(secret) < 3)
    return 'repeats itself too much: use a random one, such as the output of openssl rand -hex 32';
  const word = weak.find((part) => secret.toLowerCase().includes(part));
  return word && `holds the well-known word "${word}"`;
}
