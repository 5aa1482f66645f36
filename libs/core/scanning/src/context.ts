const nearChars = 64;
const MAX_BYTES_PER_CHAR = 4;
/** Matches nothing: without related words, a pattern that needs them never counts. */
const noWord = '[^\\s\\S]';

const wordsOfScanner: Readonly<Record<string, readonly string[]>> = {
  secret: ['secret', 'password', 'passwd', 'pwd', 'token', 'key', 'credential', 'auth', 'bearer', 'private', 'access'],
  pii: ['name', 'person', 'customer', 'contact', 'address', 'birth', 'account', 'identity', 'personal'],
  injection: ['exec', 'execute', 'run', 'shell', 'command', 'query', 'sql', 'database', 'prompt', 'instruction'],
};
const wordsOfPattern: Readonly<Record<string, readonly string[]>> = {
  ssn_digits: ['ssn', 'social[ _-]?security', 'tax[ _-]?id', 'taxpayer'],
  phone_digits: ['phone', 'telephone', 'mobile', 'whatsapp', ...whole('tel', 'cell', 'fax', 'call', 'sms')],
};

/** Words that are a prefix of many others: `telemetry`, `called`. */
function whole(...words: string[]): string[] {
  return words.map((word) => `${word}(?![a-z])`);
}

/** Related words of a weak pattern: its built-in ones, else those of its scanner and of its own name. */
export function relatedWords(scanner: string, pattern: string): RegExp {
  const ofName = pattern
    .toLowerCase()
    .split(/[^a-z]+/)
    .filter((word) => word.length > 2);
  const words = wordsOfPattern[pattern] ?? [...(wordsOfScanner[scanner] ?? []), ...ofName];
  if (words.length === 0) return new RegExp(noWord);
  // The word may be the second part of a camel-case name: `customerSsn`, `employeeSSN`.
  const any = words.map(inAnyCase).join('|');
  return new RegExp(`(?:^|[^A-Za-z])(?:${any})|[a-z](?=[A-Z])(?:${any})`);
}

/** Makes letters outside of classes case-insensitive. */
const inAnyCase = (word: string): string =>
  word.replaceAll(/\[[^\]]*\]|[a-z]/g, (part) => (part.length > 1 ? part : `[${part}${part.toUpperCase()}]`));

/**
 * Whether one of the words occurs within 64 characters before or after a match. See docs/scanning.md.
 *
 * @param text the body with one character per byte, in the units of `start` and `end`
 */
export function hasContext(words: RegExp, text: string, start: number, end: number): boolean {
  const reach = nearChars * MAX_BYTES_PER_CHAR;
  const before = [...decode(text.slice(Math.max(0, start - reach), start))].slice(-nearChars).join('');
  const behind = [...decode(text.slice(end, end + reach))].slice(0, nearChars).join('');
  return words.test(before) || words.test(` ${behind}`);
}

const decode = (bytes: string): string => Buffer.from(bytes, 'latin1').toString('utf8');
