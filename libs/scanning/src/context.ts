const nearChars = 64;
const mostBytesPerChar = 4;
/** Matches nothing: a pattern without related words never counts. */
const noWord = '[^\\s\\S]';

const wordsOfScanner: Readonly<Record<string, readonly string[]>> = {
  secret: ['secret', 'password', 'passwd', 'pwd', 'token', 'key', 'credential', 'auth', 'bearer', 'private', 'access'],
  pii: ['name', 'person', 'customer', 'contact', 'address', 'birth', 'account', 'identity', 'personal'],
  injection: ['exec', 'execute', 'run', 'shell', 'command', 'query', 'sql', 'database', 'prompt', 'instruction'],
};
const wordsOfPattern: Readonly<Record<string, readonly string[]>> = {
  ssn_digits: ['ssn', 'social security', 'social-security', 'social_security', 'tax id', 'taxpayer'],
  phone_digits: ['phone', 'telephone', 'tel', 'mobile', 'cell', 'fax', 'call', 'whatsapp', 'sms'],
};

/** Words that make a weak match count: the built-in ones of the pattern, else of its scanner and in its own name. */
export function relatedWords(scanner: string, pattern: string): RegExp {
  const ofName = pattern
    .toLowerCase()
    .split(/[^a-z]+/)
    .filter((word) => word.length > 2);
  const words = wordsOfPattern[pattern] ?? [...(wordsOfScanner[scanner] ?? []), ...ofName];
  return new RegExp(`(?:^|[^a-z])(?:${words.join('|') || noWord})`, 'i');
}

/**
 * Does one of the words stand within 64 characters before or behind a match? Operations contract 4.4.
 *
 * @param text the body with one character a byte, as `start` and `end` are
 */
export function hasContext(words: RegExp, text: string, start: number, end: number): boolean {
  const reach = nearChars * mostBytesPerChar;
  const before = [...decode(text.slice(Math.max(0, start - reach), start))].slice(-nearChars).join('');
  const behind = [...decode(text.slice(end, end + reach))].slice(0, nearChars).join('');
  return words.test(before) || words.test(` ${behind}`);
}

const decode = (bytes: string): string => Buffer.from(bytes, 'latin1').toString('utf8');
