import { StartError } from '@svc/runtime';
import { readFileSync } from 'node:fs';

const MIN_KEY_CHARS = 32;

/**
 * Reads the keys in a file.
 *
 * @param failure consequence of a file without keys, for the operator
 * @param isList whether the keys are separated by commas or line breaks; otherwise the file contains one key
 * @throws StartError when the file cannot be read or contains too short a key
 */
export function readKeyFile(path: string, variable: string, failure: string, { isList = false } = {}): string[] {
  const fail = (why: string) =>
    new StartError(`${failure}: ${why}`, `${variable} (${path})`, 'Set it to a readable file that contains the key.');
  let text: string;
  try {
    text = readFileSync(path, 'utf8').trim();
  } catch (error) {
    throw fail(error instanceof Error ? error.message : String(error));
  }
  const keys = isList
    ? text
        .replaceAll('\n', ',')
        .split(',')
        .map((key) => key.trim())
    : [text];
  if (keys.some((key) => key.length < MIN_KEY_CHARS)) {
    throw fail(`the key must have at least ${MIN_KEY_CHARS} characters`);
  }
  return keys;
}
