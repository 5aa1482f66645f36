/** HTML in which every value is escaped. Created only by the `html` tag. */
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
 * A template that escapes all values but not its own text. Nested `html` and lists of it are inserted unchanged;
 * undefined, null and false are omitted. Attribute values must be quoted.
 */
export const html = (texts: TemplateStringsArray, ...values: readonly unknown[]): Html =>
  new Html(texts.reduce((whole, text, i) => whole + written(values[i - 1]) + text));

function written(value: unknown): string {
  if (value instanceof Html) return value.text;
  if (Array.isArray(value)) return value.map(written).join('');
  return value === undefined || value === null || value === false ? '' : escaped(String(value));
}
