import { limits } from './limits';

/**
 * Text that its sender chose, bounded for log lines, alerts, reasons and keys of caches. A longer text ends with `…`.
 *
 * @param maxChars at least 1; by default the length of an id
 */
export function shorten(text: string, maxChars: number = limits.idChars): string {
  if (text.length <= maxChars) return text;
  const kept = text.slice(0, maxChars - 1);
  // Without half of a character, which UTF-8 cannot encode.
  return `${/[\uD800-\uDBFF]$/.test(kept) ? kept.slice(0, -1) : kept}…`;
}
