/**
 * Serializes a value to JSON that Lua can parse. Lua rejects unpaired surrogates, so each is replaced by U+FFFD, as in UTF-8
 * encoders. Escaped escapes, as in JSON nested in a string, are not changed.
 */
export function luaJson(value: object): string {
  const json = JSON.stringify(value);
  return json.includes('\\ud') ? json.replace(escapes, (escape) => (escape === '\\\\' ? escape : '\ufffd')) : json;
}

/** JSON.stringify escapes only unpaired surrogates; a sequence after an escaped backslash is text. */
const escapes = /\\(?:\\|ud[89a-f][0-9a-f]{2})/g;
