/** HTML that may be sent as it is: every value in it has been escaped. Made only by the `html` tag. */
export class Html {
  constructor(readonly text: string) {}
}

const escapes: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

const escaped = (text: string): string => text.replace(/[&<>"']/g, (character) => escapes[character] ?? '');

/**
 * A template whose values are escaped, wherever they come from; the text of the template itself is not. Nested `html` and
 * lists of it stay as they are; undefined, null and false leave nothing. Attribute values must stand in quotes.
 */
export const html = (texts: TemplateStringsArray, ...values: readonly unknown[]): Html =>
  new Html(texts.reduce((whole, text, i) => whole + written(values[i - 1]) + text));

function written(value: unknown): string {
  if (value instanceof Html) return value.text;
  if (Array.isArray(value)) return value.map(written).join('');
  return value === undefined || value === null || value === false ? '' : escaped(String(value));
}
