/**
 * A value as JSON that Lua can read too: it knows no half surrogate pairs, so U+FFFD stands for each, as in any UTF-8
 * encoder. Text that is itself JSON, and so has its escapes escaped, is left as it is.
 */
export function luaJson(value: object): string {
  const json = JSON.stringify(value);
  return json.includes('\\ud') ? json.replace(escapes, (escape) => (escape === '\\\\' ? escape : '\ufffd')) : json;
}

/** JSON.stringify escapes halves only; what stands behind a backslash that is itself escaped is text. */
const escapes = /\\(?:\\|ud[89a-f][0-9a-f]{2})/g;
