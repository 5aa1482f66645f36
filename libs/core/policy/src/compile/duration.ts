const unitMs: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** Milliseconds of a duration such as `45s`, `1m30s` or `500ms`; undefined when it is invalid or not above zero. */
export function durationMs(text: string): number | undefined {
  const compact = text.trim();
  if (!/^(\d+(\.\d+)?(ms|s|m|h|d))+$/.test(compact)) return undefined;
  let total = 0;
  for (const [, amount, unit] of compact.matchAll(/(\d+(?:\.\d+)?)(ms|s|m|h|d)/g)) {
    total += Number(amount) * (unitMs[unit ?? ''] ?? 0);
  }
  return total > 0 && Number.isSafeInteger(Math.round(total)) ? Math.round(total) : undefined;
}
