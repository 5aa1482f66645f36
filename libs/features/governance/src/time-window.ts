import { AppError, type GovernanceWindow, type WindowQuery, type WindowView } from '@svc/contract';

/** Unix ms, both inclusive. */
export interface TimeWindow {
  fromMs: number;
  toMs: number;
}

export const dayMs = 86_400_000;
const lengths: Readonly<Record<GovernanceWindow, number>> = { '24h': dayMs, '7d': 7 * dayMs, '30d': 30 * dayMs };

/** The period of a query: `since` to `until`, else `window` until now. @throws invalid_body */
export function toWindow({ window, since, until }: WindowQuery, nowMs: number): TimeWindow {
  const toMs = until ?? nowMs;
  return requireWindow({ fromMs: since ?? toMs - lengths[window], toMs }, lengths['30d']);
}

/** The period of a list: the last 24 hours by default. @throws invalid_body */
export const toListWindow = ({ since, until }: { since?: number; until?: number }, nowMs: number): TimeWindow =>
  requireWindow({ fromMs: since ?? (until ?? nowMs) - dayMs, toMs: until ?? nowMs }, Infinity);

function requireWindow(window: TimeWindow, maxMs: number): TimeWindow {
  const fault =
    window.toMs < window.fromMs
      ? 'until must not be earlier than since'
      : window.toMs - window.fromMs > maxMs
        ? 'the period may have at most 30 days'
        : undefined;
  if (fault) {
    throw new AppError('invalid_body', {
      error: fault,
      violations: [{ in: 'query', field: 'since', path: 'since', message: fault }],
    });
  }
  return window;
}

export const toWindowView = ({ fromMs, toMs }: TimeWindow): WindowView => ({
  since: new Date(fromMs).toISOString(),
  until: new Date(toMs).toISOString(),
});
