import type { Budget } from '../budget';
import { ViewBuilder, type View } from './view';

/** Length of the context that is scanned around a disguised text. */
const reachBytes = 512;
/** Cost of one disguised character, in bytes of plain scanning. */
const changeCost = 64;

const disguises = new RegExp(
  [
    '\\xc2[\\xa0\\xad]', // no-break space, soft hyphen
    '\\xcc[\\x80-\\xbf]|\\xcd[\\x80-\\xaf]', // marks over and through letters
    '\\xe2\\x80[\\x80-\\x95\\xa8-\\xaf]|\\xe2\\x81[\\x9f-\\xaf]|\\xe2\\x88\\x92', // spaces, joiners, directions, dashes
    '\\xe1\\xa0\\x8e|\\xe3\\x80\\x80|\\xef\\xb8[\\x80-\\x8f]|\\xef\\xbb\\xbf', // wide space, variants, byte order mark
    '\\xef\\xbc[\\x81-\\xbf]|\\xef\\xbd[\\x80-\\x9e]', // letters and digits of full width
    '\\xf0\\x9d[\\x90-\\x9f][\\x80-\\xbf]', // mathematical letters and digits
    '\\xf3\\xa0[\\x80\\x81][\\x80-\\xbf]', // tags, which no one sees
    '\\\\{1,8}u[dD][89abAB][0-9a-fA-F]{2}\\\\{1,8}u[dD][c-fC-F][0-9a-fA-F]{2}|\\\\{1,8}u[0-9a-fA-F]{4}',
  ].join('|'),
  'y',
);
/** First bytes of disguises: 1; letters of other alphabets, which count only next to Latin ones: 2. */
const begins = new Uint8Array(256);
for (const byte of [0x5c, 0xc2, 0xcc, 0xcd, 0xe1, 0xe2, 0xe3, 0xef, 0xf0, 0xf3]) begins[byte] = 1;
for (const byte of [0xc9, 0xce, 0xcf, 0xd0, 0xd1, 0xd2]) begins[byte] = 2;
const isLatin = (byte = 0): boolean => (byte >= 0x41 && byte <= 0x5a) || (byte >= 0x61 && byte <= 0x7a);

/** Candidates for disguised characters, in order: one pass that rejects most bytes by themselves. */
function* marksIn(body: Uint8Array, text: string): Generator<{ mark: string; index: number }> {
  for (let at = 0; at < body.length; at++) {
    const kind = begins[body[at] as number];
    if (kind === 0) continue;
    let end = at;
    if (kind === 2) {
      while (begins[body[end] ?? 0] === 2) end += 2;
      if (isLatin(body[at - 1]) || isLatin(body[end])) yield { mark: text.slice(at, end), index: at };
    } else {
      disguises.lastIndex = at;
      if (!disguises.test(text)) continue;
      end = disguises.lastIndex;
      yield { mark: text.slice(at, end), index: at };
    }
    at = end - 1;
  }
}

/** Detected in one quick pass: plain ASCII without escapes. */
const isPlain = (text: string): boolean => Buffer.byteLength(text) === text.length && !text.includes('\\u');

/**
 * The text with look-alike letters replaced, invisible characters removed and JSON escapes such as `\u0069` decoded.
 * Undefined when that changes nothing.
 *
 * @param text the body with one character per byte
 */
export function undisguised(body: Uint8Array, text: string, budget: Budget): View | undefined {
  if (isPlain(text)) return undefined;
  const view = new ViewBuilder();
  let taken = 0;
  const take = (from: number, to: number) => view.add(text.slice(from, to), 'same', from, to - from);
  for (const { mark, index } of marksIn(body, text)) {
    const read = reading(mark);
    if (read === undefined) continue;
    if (!budget.spend(changeCost)) break;
    if (index - taken > 2 * reachBytes) {
      if (taken > 0) take(taken, taken + reachBytes);
      view.leap();
      taken = index - reachBytes;
    }
    take(taken, index);
    view.add(read, 'whole', index, mark.length);
    taken = index + mark.length;
  }
  if (taken > 0) take(taken, Math.min(taken + reachBytes, text.length));
  return view.build();
}

/** The visible replacement of a character; empty if invisible; undefined if unchanged. */
function reading(mark: string): string | undefined {
  if (mark.startsWith('\\')) {
    const units = [...mark.matchAll(/u([0-9a-fA-F]{4})/g)].map(([, hex = '']) => parseInt(hex, 16));
    const char = String.fromCharCode(...units);
    const code = char.codePointAt(0) ?? 0;
    return code < 0x20 ? ' ' : code < 0x7f ? char : getVisibleText(code);
  }
  const chars = [...Buffer.from(mark, 'latin1').toString('utf8')];
  const looks = chars.map((char) => getVisibleText(char.codePointAt(0) ?? 0));
  if (looks.every((look) => look === undefined)) return undefined;
  return looks.map((look, at) => look ?? Buffer.from(chars[at] ?? '').toString('latin1')).join('');
}

const likeLatin: Readonly<Record<string, string>> = Object.fromEntries(
  (
    'аa еe оo рp сc хx уy іi јj ѕs ԁd һh ӏl ԛq ԝw АA ВB ЕE КK МM НH ОO РP СC ТT ХX УY ІI ЈJ ЅS ' +
    'αa οo νv ρp ιi κk τt υu ΑA ΒB ΕE ΖZ ΗH ΙI ΚK ΜM ΝN ΟO ΡP ΤT ΥY ΧX ɑa ɡg ɩi ɪi ɢg ɴn ʀr'
  )
    .split(' ')
    .map((pair) => [pair.charAt(0), pair.charAt(1)]),
);

function getVisibleText(code: number): string | undefined {
  if (isUnseen(code)) return '';
  if (code === 0xa0 || (code >= 0x2000 && code <= 0x200a) || code === 0x202f || code === 0x205f || code === 0x3000)
    return ' ';
  if ((code >= 0x2010 && code <= 0x2015) || code === 0x2212) return '-';
  if (code >= 0xff01 && code <= 0xff5e) return String.fromCharCode(code - 0xfee0);
  if (code >= 0xe0020 && code <= 0xe007e) return String.fromCharCode(code - 0xe0000);
  if (code >= 0x1d400 && code <= 0x1d7ff) return String.fromCodePoint(code).normalize('NFKD');
  return likeLatin[String.fromCodePoint(code)];
}

const isUnseen = (code: number): boolean =>
  code === 0xad ||
  (code >= 0x300 && code <= 0x36f) ||
  code === 0x180e ||
  (code >= 0x200b && code <= 0x200f) ||
  (code >= 0x2028 && code <= 0x202e) ||
  (code >= 0x2060 && code <= 0x206f) ||
  (code >= 0xfe00 && code <= 0xfe0f) ||
  code === 0xfeff ||
  (code >= 0xe0000 && code <= 0xe001f);
