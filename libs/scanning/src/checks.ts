/**
 * What an expression alone cannot say, by the pattern's name. A definitions file gets the same by using the name.
 * Spec: "Scanner definitions file" (Luhn check, high-entropy assignments).
 */
export const checks: Readonly<Record<string, (value: string) => boolean>> = {
  payment_card: isCardNumber,
  high_entropy_assignment: looksRandom,
};

/** 12 to 19 digits, separators aside, whose Luhn sum is right. */
export function isCardNumber(text: string): boolean {
  const digits = text.replace(/[^0-9]/g, '');
  if (digits.length < 12 || digits.length > 19 || /^(.)\1*$/.test(digits)) return false;
  let sum = 0;
  for (let i = 0; i < digits.length; i++) {
    const digit = digits.charCodeAt(digits.length - 1 - i) - 48;
    const doubled = i % 2 === 1 ? digit * 2 : digit;
    sum += doubled > 9 ? doubled - 9 : doubled;
  }
  return sum % 10 === 0;
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
