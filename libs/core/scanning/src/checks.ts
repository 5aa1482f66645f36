import type { MatchContext } from './checks-context';
import {
  isInjectedUnion,
  isJoinedShell,
  isOrder,
  isPlacedStatement,
  isRunAtOnce,
  isWholeTree,
  runsOnServer,
} from './checks-injection';
import { isAddress, isInternational, isNational, isNationalDigits, isSocialSecurity } from './checks-pii';
import { isAssignedSecret, isCredential, isGenerated, isNotPlaceholder, isProviderKey } from './checks-secret';

/** Whether a match counts. */
export type Check = (value: string, around: MatchContext) => boolean;

/**
 * Checks beyond the expression, by the pattern's name. A pattern of a definitions file with that name gets the same check.
 */
export const checks: Readonly<Record<string, Check>> = {
  aws_access_key_id: isGenerated,
  aws_secret_access_key: isGenerated,
  github_token: isGenerated,
  gitlab_token: isGenerated,
  slack_webhook: isGenerated,
  stripe_key: isGenerated,
  model_provider_key: isProviderKey,
  npm_token: isGenerated,
  google_api_key: isGenerated,
  google_oauth_secret: isGenerated,
  sendgrid_key: isGenerated,
  connection_string: isNotPlaceholder,
  connection_password: isNotPlaceholder,
  bearer_token: isCredential,
  high_entropy_assignment: (value, around) => looksRandom(value) && isAssignedSecret(value, around),
  email: isAddress,
  ssn: isSocialSecurity,
  payment_card: (value, { after }) => isCardNumber(value) && isGroupedAlike(value) && !/^\.\d/.test(after),
  phone_international: isInternational,
  phone_national: isNational,
  phone_digits: isNationalDigits,
  shell_destructive: isWholeTree,
  shell_download_and_run: isRunAtOnce,
  shell_reverse: isJoinedShell,
  sql_union_select: isInjectedUnion,
  sql_stacked: isPlacedStatement,
  sql_time_based: runsOnServer,
  prompt_override: isOrder,
};

/** 12 to 19 digits, ignoring separators, with a valid Luhn sum, and not one repeated digit. */
export function isCardNumber(text: string): boolean {
  let sum = 0;
  let digits = 0;
  let isOneDigit = true;
  let last = -1;
  for (let i = text.length - 1; i >= 0; i--) {
    const digit = text.charCodeAt(i) - 48;
    if (!(digit >= 0 && digit <= 9)) continue;
    const doubled = digit > 4 ? digit * 2 - 9 : digit * 2;
    // Every second digit from the right is doubled.
    sum += digits % 2 === 1 ? doubled : digit;
    isOneDigit &&= last === -1 || digit === last;
    last = digit;
    digits++;
  }
  return digits >= 12 && digits <= 19 && !isOneDigit && sum % 10 === 0;
}

/** Only blanks or only dashes as separators: cards are not written with both. */
const isGroupedAlike = (text: string): boolean => new Set(text.replaceAll(/\d/g, '')).size <= 1;

const leastBitsPerCharacter = 2.75;

/** Letters mixed with digits, with the entropy of a generated value. */
export function looksRandom(text: string): boolean {
  return /[0-9]/.test(text) && /[A-Za-z]/.test(text) && bitsPerCharacter(text) >= leastBitsPerCharacter;
}

/** Shannon entropy over the characters of this text. */
function bitsPerCharacter(text: string): number {
  const counts = new Map<string, number>();
  for (const char of text) counts.set(char, (counts.get(char) ?? 0) + 1);
  let bits = 0;
  for (const count of counts.values()) bits -= (count / text.length) * Math.log2(count / text.length);
  return bits;
}
