import type { TelemetryMode } from '@svc/contract';

const names: Readonly<Record<string, TelemetryMode>> = {
  ...{ off: 'off', disabled: 'off', false: 'off', '0': 'off', no: 'off' },
  ...{ anonymous: 'anonymous', anon: 'anonymous' },
  ...{ local_only: 'local_only', local: 'local_only', 'local-only': 'local_only', '': 'local_only' },
};
/** From the one that discloses least. */
const order: readonly TelemetryMode[] = ['off', 'local_only', 'anonymous'];

/** Reads a mode or one of its aliases; undefined for other texts. */
export const readMode = (text: string): TelemetryMode | undefined => {
  const name = text.trim().toLowerCase();
  return Object.hasOwn(names, name) ? names[name] : undefined;
};

/**
 * The mode in effect: the stored choice, else the setting, and never more than the license allows. An unknown text discloses
 * nothing.
 */
export function modeInEffect({
  stored,
  configured,
  licensed,
}: {
  stored: string | null;
  configured: string;
  /** Of the license; '' = no limit. */
  licensed: string;
}): TelemetryMode {
  const chosen = readMode(stored ?? configured) ?? 'off';
  if (licensed === '') return chosen;
  const cap = readMode(licensed) ?? 'off';
  return order.indexOf(chosen) <= order.indexOf(cap) ? chosen : cap;
}
