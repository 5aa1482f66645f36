import { dictionary } from '@zxcvbn-ts/language-common';

/** Length of a password, in UTF-16 units. */
const passwordLength = { min: 12, max: 128 } as const;

/** Words that occur in passwords most often; fewer letters are no word. */
const MAX_WORDS = 10_000;
const MIN_WORD_CHARS = 4;
const common = new Set((dictionary['passwords-common'] as string[]).slice(0, MAX_WORDS));

/** Letters that are often written as another character. */
const lookalikes: Readonly<Record<string, string>> = {
  ...{ '@': 'a', '4': 'a', '3': 'e', '1': 'i', '!': 'i', '0': 'o', $: 's', '5': 's', '7': 't' },
};

/**
 * What a new password lacks, as a clause that follows its name; undefined when it may be used. Never quotes the password.
 *
 * @param own words that belong to the user, such as the username, which others would try first
 */
export function passwordProblem(password: string, own: readonly (string | undefined)[] = []): string | undefined {
  const { min, max } = passwordLength;
  if (password.length < min || password.length > max) return `must have ${min} to ${max} characters`;
  if (!/\p{Lu}/u.test(password)) return 'must contain an upper-case letter';
  if (!/\p{Nd}/u.test(password)) return 'must contain a digit';
  if (!/[^\p{L}\p{N}]/u.test(password)) return 'must contain a character that is neither letter nor digit';
  const lower = password.toLowerCase();
  if (own.some((word) => word && word.length >= MIN_WORD_CHARS && lower.includes(word.toLowerCase())))
    return 'must not contain the username or e-mail address';
  return isCommon(lower) ? 'must not be a common password, or one with other characters around it' : undefined;
}

/** Whether a password is a common word, also one that is repeated, ends in digits or signs, or has letters replaced by them. */
function isCommon(lower: string): boolean {
  if (common.has(lower)) return true;
  const words = lower.split(/[\s._-]+/u).map((word) => spell(trimSigns(word)));
  const [word = '', ...others] = new Set(words.filter(Boolean));
  return others.length === 0 && (word.length < MIN_WORD_CHARS || common.has(word));
}

const isLetter = (character: string | undefined): boolean => character !== undefined && /\p{L}/u.test(character);

/** Removes what is no letter from both ends. */
function trimSigns(word: string): string {
  let [from, to] = [0, word.length];
  while (from < to && !isLetter(word[from])) from += 1;
  while (to > from && !isLetter(word[to - 1])) to -= 1;
  return word.slice(from, to);
}

const spell = (word: string): string => [...word].map((character) => lookalikes[character] ?? character).join('');
