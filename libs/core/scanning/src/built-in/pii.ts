import type { BuiltInPattern } from '../definitions';

const localPartBytes = 64;
const dot = 0x2e;
const dash = 0x2d;
const inLocalPart = new Uint8Array(256);
for (const char of 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._%+-')
  inLocalPart[char.charCodeAt(0)] = 1;

/** From the `@` back to the first character of the local part. */
function localPartBegins(body: Uint8Array, at: number): number {
  let from = at;
  while (from > 0 && at - from < localPartBytes && inLocalPart[body[from - 1] ?? 0] === 1) from--;
  // It starts with neither: the text before is the end of a sentence.
  while (from < at && (body[from] === dot || body[from] === dash)) from++;
  return from;
}

/** Personal data. */
export const piiPatterns: readonly BuiltInPattern[] = [
  {
    name: 'email',
    regex: '[A-Za-z0-9_%+][A-Za-z0-9._%+-]{0,63}@(?:[A-Za-z0-9](?:[A-Za-z0-9-]{0,62})\\.){1,8}[A-Za-z]{2,24}\\b',
    severity: 'medium',
    confidence: 'high',
    context_required: false,
    needles: ['@'],
    begin: localPartBegins,
  },
  {
    name: 'ssn',
    regex:
      '\\b(?:00[1-9]|0[1-9]\\d|[1-578]\\d{2}|6[0-57-9]\\d|66[0-57-9])[- ](?:0[1-9]|[1-9]\\d)[- ](?:000[1-9]|00[1-9]\\d|0[1-9]\\d{2}|[1-9]\\d{3})\\b',
    severity: 'high',
    confidence: 'high',
    context_required: false,
    needles: ['000-00-0', '000 00 0', '000-00 0', '000 00-0'],
  },
  {
    name: 'ssn_digits',
    regex: '\\b(?:00[1-9]|0[1-9]\\d|[1-578]\\d{2}|6[0-57-9]\\d|66[0-57-9])\\d{6}\\b',
    severity: 'high',
    confidence: 'low',
    context_required: true,
    needles: ['000000000'],
  },
  {
    // By the number ranges and lengths of the card schemes; the decimals of a fraction are not a card.
    name: 'payment_card',
    regex:
      '(?:^|[^.\\w])(?<value>3[47]\\d{2}[ -]?\\d{6}[ -]?\\d{5}|3(?:0[0-5]|[68]\\d)\\d[ -]?\\d{6}[ -]?\\d{4}|(?:4\\d{3}|5[1-5]\\d{2}|2(?:2(?:0[0-4]|2[1-9]|[3-9]\\d)|[3-6]\\d{2}|7(?:[01]\\d|20))|35(?:2[89]|[3-8]\\d)|6(?:011|4[4-9]\\d|5\\d{2}|2\\d{2}))[ -]?\\d{4}[ -]?\\d{4}[ -]?\\d{4}(?:[ -]?\\d{3})?|4\\d{12})\\b',
    severity: 'high',
    confidence: 'high',
    context_required: false,
    needles: ['0000 0000', '0000-0000', '00000000', '0000 000000', '0000-000000'],
    begin: (_body, needleAt) => Math.max(needleAt - 1, 0),
  },
  {
    name: 'phone_international',
    regex:
      '\\+(?:1[ .-]?(?:\\(\\d{3}\\)|\\d{3})[ .-]?\\d{3}[ .-]?\\d{4}|[1-9]\\d{0,2}(?:[ .-]?\\(\\d{1,4}\\))?(?:[ ./-]?\\d){6,14})\\b',
    severity: 'medium',
    confidence: 'medium',
    context_required: false,
    needles: ['+0'],
  },
  {
    name: 'phone_national',
    regex: '(?:\\([2-9]\\d{2}\\) ?|\\b[2-9]\\d{2}[ .-])[2-9]\\d{2}[ .-]\\d{4}\\b',
    severity: 'medium',
    confidence: 'medium',
    context_required: false,
    needles: ['(000)', '000-000-0000', '000.000.0000', '000 000 0000', '000-000 0000', '000 000-0000', '000.000-0000'],
  },
  {
    name: 'phone_digits',
    regex: '\\b[2-9]\\d{2}[2-9]\\d{6}\\b',
    severity: 'medium',
    confidence: 'low',
    context_required: true,
    needles: ['0000000000'],
  },
];
