import type { Around } from './checks-context';

const tailChars = 12;

/** Its end is not one character over and over, as in `ghp_xxxxxxxxxxxx` of a manual. */
export function isGenerated(value: string): boolean {
  const tail = value.slice(-tailChars);
  return tail !== tail.charAt(0).repeat(tail.length);
}

/** A long run of letters with digits among them: style sheets and widgets have names that begin with `sk-` too. */
export function isProviderKey(value: string): boolean {
  const runs = value.match(/[A-Za-z0-9]{16,}/g) ?? [];
  return isGenerated(value) && runs.some((run) => /[0-9]/.test(run) && /[A-Za-z]/.test(run));
}

/** Something, and not what stands where a password was: `****`, `xxxxx`, `REDACTED`. */
export const isNoStandIn = (value: string): boolean =>
  !/^(?:\*+|x+|\.+|-+|_+|#+|\?+|%s|redacted|masked|hidden|removed|changeme\?)$/i.test(value);

/** A credential of a header holds a digit or letters of both cases; YOUR_TOKEN_HERE and your-token-here do not. */
export const isCredential = (value: string): boolean =>
  isGenerated(value) && (/[0-9]/.test(value) || (/[a-z]/.test(value) && /[A-Z]/.test(value)));

/** A name, what may follow it, and the sign between name and value. */
const nameChars = 80;
const nameOfValue =
  /(password|passwd|passphrase|pwd|secret|token|key|credential)([a-z0-9_.-]{0,32})\\{0,3}["']?\]?[ \t]{0,8}(?::=|=>|=|:|>)[ \t]{0,8}\\{0,3}["']?$/i;
/** Words that make a name say something else of a secret than what it is. */
const saysElse = new Set(
  (
    'id ids name names url uri urls type types count counts limit limits length len max min ttl expiry expires expire ' +
    'expiration at endpoint path paths file files dir folder ref reference version versions policy policies usage budget ' +
    'arn hint field label second seconds minute prefix suffix size algorithm alg format rotation status state provider ' +
    'store manager class service rules regex pattern reset page index position'
  ).split(' '),
);
/** `tokenizer`, `secretary`: the word is only the beginning of another one. */
const isOtherWord = /^(?:i[sz]|ary|aria|e?d\b|ing\b|ness)/;

/** The name says that the value is the secret itself, and the value is neither words nor a path nor a piece of code. */
export function isAssignedSecret(value: string, { before, after }: Around): boolean {
  const [, word = '', rest = ''] = nameOfValue.exec(before.slice(-nameChars)) ?? [];
  const words = rest
    .replaceAll(/([a-z0-9])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z]+/)
    .filter(Boolean);
  if (isOtherWord.test(rest) || saysElse.has(words.at(-1) ?? '')) return false;
  if (after.startsWith('(') || isPath(value)) return false;
  // People choose `Summer2024` for a password; no generator does for a token.
  return /^pass|^pwd/i.test(word) && words.length === 0 ? !isMember(value) : !isWordy(value);
}

const isPath = (value: string): boolean => /^(?:\.{0,2}|~)\//.test(value) && isWordy(value.replace(/^[.~]*/, ''));
/** `settings.keys.primary2`: parts of an object in code. */
const isMember = (value: string): boolean => /^[A-Za-z_][A-Za-z0-9_]*(?:\.[A-Za-z_][A-Za-z0-9_]*)+$/.test(value);
/** Words, versions and numbers, joined as in names: `my-app-secret-v2`. */
const isWordy = (value: string): boolean =>
  value.split(/[^A-Za-z0-9]+/).every((part) => /^(?:\d{0,4}|[A-Za-z]+\d{0,4}|\d{1,4}[A-Za-z]+)$/.test(part));
