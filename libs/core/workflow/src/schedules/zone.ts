/** UTC offset of a time zone at an instant, ms. */
export interface Zone {
  offsetMs(atMs: number): number;
}

const offsetText = /GMT(?:([+-])(\d\d):(\d\d)(?::(\d\d))?)?$/;

/** Undefined for names that are not IANA zones, such as `+01:00`. */
export function findZone(name: string): Zone | undefined {
  let format: Intl.DateTimeFormat;
  try {
    format = new Intl.DateTimeFormat('en-US', { timeZone: name, timeZoneName: 'longOffset' });
  } catch {
    return undefined;
  }
  // Newer runtimes accept fixed offsets too; reject them, so that a schedule means the same everywhere.
  const { timeZone } = format.resolvedOptions();
  if (/^[+-]/.test(timeZone)) return undefined;
  if (timeZone === 'UTC') return { offsetMs: () => 0 };
  return {
    offsetMs(atMs) {
      const [, sign, hours, minutes, seconds = '0'] = offsetText.exec(format.format(atMs)) ?? [];
      if (!sign) return 0;
      const sec = Number(hours) * 3_600 + Number(minutes) * 60 + Number(seconds);
      return (sign === '-' ? -sec : sec) * 1_000;
    },
  };
}

const hourMs = 3_600_000;
/** Zone offsets range from -12 to +14 hours. */
const [behindMs, aheadMs] = [13 * hourMs, 15 * hourMs];
/** No zone changes its clocks twice within this time. */
const strideMs = 7 * 24 * hourMs;

/** The first instant of a wall time; for a skipped one, the instant of the clock change. */
export function toInstant(zone: Zone, wallMs: number): number {
  const before = zone.offsetMs(wallMs - aheadMs);
  const after = zone.offsetMs(wallMs + behindMs);
  // The larger offset gives the earlier instant.
  for (const offset of [Math.max(before, after), Math.min(before, after)]) {
    if (zone.offsetMs(wallMs - offset) === offset) return wallMs - offset;
  }
  return changeBetween(zone, wallMs - aheadMs, wallMs + behindMs);
}

/** The first instant after `fromMs`, up to `toMs`, at which the offset changes. */
export function nextChange(zone: Zone, fromMs: number, toMs: number): number | undefined {
  const offset = zone.offsetMs(fromMs);
  for (let low = fromMs; low < toMs; low += strideMs) {
    const high = Math.min(toMs, low + strideMs);
    if (zone.offsetMs(high) !== offset) return changeBetween(zone, low, high);
  }
  return undefined;
}

/** The instant between two at which the offset changes. */
function changeBetween(zone: Zone, lowMs: number, highMs: number): number {
  const offset = zone.offsetMs(lowMs);
  let [low, high] = [lowMs, highMs];
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (zone.offsetMs(middle) === offset) low = middle;
    else high = middle;
  }
  return high;
}
