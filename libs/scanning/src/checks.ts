/**
 * What an expression alone cannot say, by the pattern's name. A definitions file gets the same by using the name.
 * Spec: "Scanner definitions file" (Luhn check, high-entropy assignments).
 */
export const checks: Readonly<Record<string, (value: string) => boolean>> = {
  payment_card: isCardNumber,
  high_entropy_assignment: looksRandom,
};

/** 12 to 19 digits, separators aside, whose Luhn sum is right and that are not one digit over and over. */
export function isCardNumber(text: string): boolean {
  let sum = 0;
  let digits = 0;
  let isOneDigit = true;
  let last = -1;
  for (let i = text.length - 1; i >= 0; i--) {
    const digit = text.charCodeAt(i) - 48;
    if (!(digit >= 0 && digit <= 9)) continue;
    const doubled = digit > 4 ? digit * 2 - 9 : digit * 2;
    // Every second digit from the right counts twice.
    sum += digits % 2 === 1 ? doubled : digit;
    isOneDigit &&= last === -1 || digit === last;
    last = digit;
    digits++;
  }
  return digits >= 12 && digits <= 19 && !isOneDigit && sum % 10 === 0;
}

const leastBitsPerCharacter = 2.75;

/** Letters mixed with digits, and about as unlike each other as in a generated value. */
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
