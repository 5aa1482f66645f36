import { isCardNumber } from './checks';

/** Source of generated values: a whole number below `limit`. */
export type Draw = (limit: number) => number;

const letters = 'abcdefghijklmnopqrstuvwxyz';
const alphabets: Readonly<Record<string, string>> = {
  an: `${letters}${letters.toUpperCase()}0123456789`,
  up: `${letters.toUpperCase()}234567`,
  lower: letters,
  d: '0123456789',
  hex: '0123456789abcdef',
  b64: `${letters}${letters.toUpperCase()}0123456789+/`,
  b64u: `${letters}${letters.toUpperCase()}0123456789-_`,
};

/** Deterministic for a text (mulberry32, seeded with a hash of the text). */
export function drawFor(seed: string): Draw {
  let state = 2_166_136_261;
  for (const char of seed) state = Math.imul(state ^ (char.codePointAt(0) ?? 0), 16_777_619);
  return (limit) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % limit;
  };
}

/**
 * Fills the placeholders of a text such as `{an:36}`: values are generated when the corpus is read, so that secret
 * scanners find none in this repository. libs/core/scanning/corpus/README.md lists the placeholders.
 */
export function fill(text: string, draw: Draw): string {
  return text.replaceAll('¦', '').replaceAll(/\{([a-z0-9]+):([^{}]*)\}/g, (place, kind: string, argument: string) => {
    const made = generateValue(kind, argument, draw);
    if (made === undefined) throw new Error(`unknown placeholder ${place} in: ${text}`);
    return made;
  });
}

function generateValue(kind: string, argument: string, draw: Draw): string | undefined {
  const alphabet = alphabets[kind];
  if (alphabet !== undefined) return run(alphabet, Number(argument), draw);
  const [first = '', second = '', third = ''] = argument.split(',');
  switch (kind) {
    case 'x':
      return first.repeat(Number(second));
    case 'u':
      return String.fromCodePoint(parseInt(first, 16));
    case 'card':
      return cardNumber(first, Number(second), third, draw, 0);
    case 'badcard':
      return cardNumber(first, Number(second), third, draw, 1 + draw(9));
    case 'base64':
      return Buffer.from(argument).toString('base64');
    case 'jwt':
      return webToken(draw);
    case 'pem':
      return Array.from({ length: Number(first) }, () => run(alphabets['b64'] ?? '', 64, draw)).join('\n');
    case 'bold':
      return [...argument].map((char) => toBold(char)).join('');
    case 'tags':
      return [...argument].map((char) => String.fromCodePoint(0xe0000 + char.charCodeAt(0))).join('');
    default:
      return undefined;
  }
}

/** Mixed alphabets start with one of each kind of character, as a real value of that length has them too. */
function run(alphabet: string, length: number, draw: Draw): string {
  const kinds = [/[a-z]/, /[0-9]/, /[A-Z]/].map((kind) => [...alphabet].filter((char) => kind.test(char)));
  const mixed = kinds.filter((kind) => kind.length > 0);
  return Array.from({ length }, (_, at) => {
    const from = (length >= 8 && mixed.length > 1 ? mixed[at] : undefined) ?? [...alphabet];
    return from[draw(from.length)] ?? '';
  }).join('');
}

/** A number with this prefix and length, grouped like a card; its Luhn sum is off by `off`. */
function cardNumber(prefix: string, length: number, separator: string, draw: Draw, off: number): string {
  const body = prefix + run('0123456789', length - prefix.length - 1, draw);
  const right = Array.from({ length: 10 }, (_, digit) => digit).find((digit) => isCardNumber(`${body}${digit}`)) ?? 0;
  const digits = `${body}${(right + off) % 10}`;
  if (separator === '') return digits;
  const groups =
    length === 15 ? /^(\d{4})(\d{6})(\d{5})$/ : length === 14 ? /^(\d{4})(\d{6})(\d{4})$/ : /(\d{4})(?=\d)/g;
  return length <= 15
    ? digits.replace(groups, `$1${separator}$2${separator}$3`)
    : digits.replace(groups, `$1${separator}`);
}

function webToken(draw: Draw): string {
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
  return `${part({ alg: 'HS256', typ: 'JWT' })}.${part({ sub: String(draw(10_000)), iat: 1_760_000_000 })}.${run(alphabets['b64u'] ?? '', 43, draw)}`;
}

/** Letters as mathematical bold letters, which look the same. */
function toBold(char: string): string {
  const at = letters.indexOf(char.toLowerCase());
  if (at < 0) return char;
  return String.fromCodePoint((char === char.toLowerCase() ? 0x1d41a : 0x1d400) + at);
}
