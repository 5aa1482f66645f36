import type { MatchContext } from './checks-context';

/** Suffixes of file and machine names that are not top-level domains. */
const noDomain = new Set(
  (
    'png jpg jpeg gif svg webp ico bmp css scss less js mjs cjs jsx ts tsx json jsonl html htm xml yml yaml toml ini cfg ' +
    'conf txt log csv tsv pdf doc docx xls xlsx exe dll jar war aar tgz gz bz2 xz tar whl lock map local localhost ' +
    'internal lan localdomain service socket'
  ).split(' '),
);

/**
 * A deliverable address: not a file (`icon@2x.png`), a version (`lib@1.2.0.min`), a git remote, the user in a server's
 * address, or a call in code (`q@k.transpose(`).
 */
export function isAddress(value: string, { before, after }: MatchContext): boolean {
  const at = value.indexOf('@');
  const domain = value.slice(at + 1).toLowerCase();
  // The RE2 engine retries within a rejected match: the rest of a local part is not an address.
  if (/[A-Za-z0-9_%+][.-]{0,3}$/.test(before.slice(-4))) return false;
  if (noDomain.has(domain.slice(domain.lastIndexOf('.') + 1)) || /^v?\d+\.\d/.test(domain)) return false;
  if (before.endsWith('//') || after.startsWith('(')) return false;
  return !(value.slice(0, at) === 'git' && after.startsWith(':'));
}

/** Numbers from advertising and sample cards; not PII. */
const advertised = new Set(['078051120', '219099999', '457555462']);

/** Written with one separator, not part of a longer number or of a row of numbers, and not an advertised one. */
export function isSocialSecurity(value: string, around: MatchContext): boolean {
  const [first = '', second = ''] = value.replaceAll(/\d/g, '');
  return first === second && standsAlone(around, first) && !advertised.has(value.replaceAll(/\D/g, ''));
}

/** No further groups of digits before or after it. */
function standsAlone({ before, after }: MatchContext, separator: string): boolean {
  if (/\d[-.]$/.test(before) || /^[-.]\d/.test(after)) return false;
  return separator !== ' ' || !(/\d[ \t]{1,4}$/.test(before) || /^[ \t]{1,4}\d/.test(after));
}

const unassigned = /^(?:.11|.9)/;
/** Area and exchange of the North American plan: neither service codes such as 411, nor reserved areas. */
const isAssigned = (digits: string): boolean =>
  /^[2-9]\d{2}[2-9]\d{6}$/.test(digits) && !unassigned.test(digits) && !/^.11/.test(digits.slice(3));

export const isNationalDigits = (value: string): boolean => isAssigned(value);

export function isNational(value: string, { before, after }: MatchContext): boolean {
  const separator = value.startsWith('(') ? '' : value.charAt(3);
  // Long-distance numbers are written with a leading 1.
  const around = { before: before.replace(/(^|\D)1[-. ]$/, '$1'), after };
  return isAssigned(value.replaceAll(/\D/g, '')) && standsAlone(around, separator);
}

const countryCodes = new RegExp(
  '^(?:1|7|2[07]|3[0-469]|4[013-9]|5[1-8]|6[0-6]|8[1246]|9[0-58]|2(?:1[1-368]|[2346]\\d|5[0-8]|9[0-17-9])|3(?:5\\d|7[0-8]|8[0-35-79])|' +
    '42[013]|50\\d|59\\d|67[02-9]|68\\d|69[0-2]|8(?:00|08|5[02356]|70|8[0-368])|9(?:6[0-8]|7[0-79]|9[2-68]))',
);
const fewestDigits = 9;
const MAX_DIGITS = 15;
const MAX_SINGLE_DIGITS = 2;

/** An existing country code, the right number of digits for it, and the usual grouping. */
export function isInternational(value: string, { before }: MatchContext): boolean {
  const digits = value.replaceAll(/\D/g, '');
  if (/[\w+/=]$/.test(before) || !countryCodes.test(digits)) return false;
  const singles = value.split(/\D+/).filter((group) => group.length === 1).length;
  if (singles > MAX_SINGLE_DIGITS + (digits.startsWith('1') || digits.startsWith('7') ? 1 : 0)) return false;
  if (digits.startsWith('1')) return digits.length === 11 && isAssigned(digits.slice(1));
  if (digits.startsWith('7')) return digits.length === 11;
  return digits.length >= fewestDigits && digits.length <= MAX_DIGITS;
}
