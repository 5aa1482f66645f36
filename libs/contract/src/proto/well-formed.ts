const halfPair = /[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;

/** A copy of a message in which U+FFFD replaces each lone surrogate in texts and keys, as in any UTF-8 encoder. */
export function wellFormed(value: unknown): unknown {
  if (typeof value === 'string') return value.replace(halfPair, '\ufffd');
  if (Array.isArray(value)) return value.map(wellFormed);
  if (typeof value !== 'object' || value === null || ArrayBuffer.isView(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [wellFormed(key), wellFormed(inner)]));
}
