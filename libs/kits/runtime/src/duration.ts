const unitMs = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;
const form = /^(\d{1,15}(?:\.\d{1,6})?)(ms|s|m|h|d)$/;

/** Description of the duration format, for messages to operators. */
export const durationForm = 'a duration such as 500ms, 30s, 10m, 24h or 7d';

/**
 * Reads an operator's duration: one number with a unit, or a bare `0`.
 *
 * @returns whole milliseconds; undefined when the text is not a duration
 */
export function parseDuration(text: string): number | undefined {
  if (text === '0') return 0;
  const [, amount, unit] = form.exec(text) ?? [];
  if (amount === undefined || !isUnit(unit)) return undefined;
  const ms = Math.round(Number(amount) * unitMs[unit]);
  return Number.isSafeInteger(ms) ? ms : undefined;
}

/** Writes milliseconds as the shortest duration that reads back to the same number. */
export function formatDuration(ms: number): string {
  const unit = (['d', 'h', 'm', 's'] as const).find((u) => ms >= unitMs[u] && ms % unitMs[u] === 0) ?? 'ms';
  return `${ms / unitMs[unit]}${unit}`;
}

const isUnit = (unit: string | undefined): unit is keyof typeof unitMs => unit !== undefined && unit in unitMs;
