import type { MatchContext } from './checks-context';

const tailChars = 12;

/** Does not end in one repeated character, as `ghp_xxxxxxxxxxxx` in a manual does. */
export function isGenerated(value: string): boolean {
  const tail = value.slice(-tailChars);
  return tail !== tail.charAt(0).repeat(tail.length);
}

/** A long run of letters and digits: names of style sheets and widgets may start with `sk-` too. */
export function isProviderKey(value: string): boolean {
  const runs = value.match(/[A-Za-z0-9]{16,}/g) ?? [];
  return isGenerated(value) && runs.some((run) => /[0-9]/.test(run) && /[A-Za-z]/.test(run));
}

/** Not empty, and not a placeholder for a password: `****`, `xxxxx`, `REDACTED`. */
export const isNotPlaceholder = (value: string): boolean =>
  !/^(?:\*+|x+|\.+|-+|_+|#+|\?+|%s|redacted|masked|hidden|removed|changeme\?)$/i.test(value);

/** A header credential contains a digit or letters of both cases; YOUR_TOKEN_HERE and your-token-here do not. */
export const isCredential = (value: string): boolean =>
  isGenerated(value) && (/[0-9]/.test(value) || (/[a-z]/.test(value) && /[A-Z]/.test(value)));

/** A name, its suffixes, and the sign between name and value. */
const nameChars = 80;
const nameOfValue =
  /(password|passwd|passphrase|pwd|secret|token|key|credential)([a-z0-9_.-]{0,32})\\{0,3}["']?\]?[ \t]{0,8}(?::=|=>|=|:|>)[ \t]{0,8}\\{0,3}["']?$/i;
/** Words after which a name describes a property of a secret and not the secret. */
const propertyWords = new Set(
  (
    'id ids name names url uri urls type types count counts limit limits length len max min ttl expiry expires expire ' +
    'expiration at endpoint path paths file files dir folder ref reference version versions policy policies usage budget ' +
    'arn hint field label second seconds minute prefix suffix size algorithm alg format rotation status state provider ' +
    'store manager class service rules regex pattern reset page index position'
  ).split(' '),
);
/** `tokenizer`, `secretary`: the word is only a prefix of another one. */
const isOtherWord = /^(?:i[sz]|ary|aria|e?d\b|ing\b|ness)/;

/** The name denotes the secret itself, and the value is neither words nor a path nor code. */
export function isAssignedSecret(value: string, { before, after }: MatchContext): boolean {
  const [, word = '', rest = ''] = nameOfValue.exec(before.slice(-nameChars)) ?? [];
  const words = rest
    .replaceAll(/([a-z0-9])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z]+/)
    .filter(Boolean);
  if (isOtherWord.test(rest) || propertyWords.has(words.at(-1) ?? '')) return false;
  if (after.startsWith('(') || isPath(value)) return false;
  // `Summer2024` is a plausible password, but not a generated token.
  return /^pass|^pwd/i.test(word) && words.length === 0 ? !isMember(value) : !isWordy(value);
}

const isPath = (value: string): boolean => /^(?:\.{0,2}|~)\//.test(value) && isWordy(value.replace(/^[.~]*/, ''));
/** `settings.keys.primary2`: a property path in code. */
const isMember = (value: string): boolean => /^[A-Za-z_][A-Za-z0-9_]*(?:\.[A-Za-z_][A-Za-z0-9_]*)+$/.test(value);
/** Words, versions and numbers, joined as in names: `my-app-secret-v2`. */
const isWordy = (value: string): boolean =>
  value.split(/[^A-Za-z0-9]+/).every((part) => /^(?:\d{0,4}|[A-Za-z]+\d{0,4}|\d{1,4}[A-Za-z]+)$/.test(part));
