import type { LogPlace, LogRange, Placed } from './decision-log';

/** Records that one query reads at most. */
export const MAX_SCANNED = 10_000;
const pageSize = 1_000;

export interface ScannedLog<T> {
  /** Newest first. */
  entries: Placed<T>[];
  /** Older entries exist. */
  isCut: boolean;
}

/** The newest entries of a range, in pages, so that no single read blocks the store. */
export async function scanLog<T>(
  read: (range: LogRange, count: number) => Promise<Placed<T>[]>,
  range: LogRange,
  most = MAX_SCANNED,
): Promise<ScannedLog<T>> {
  const entries: Placed<T>[] = [];
  let before: LogPlace | undefined = range.before;
  while (entries.length <= most) {
    const count = Math.min(pageSize, most + 1 - entries.length);
    const page = await read({ ...range, ...(before && { before }) }, count);
    entries.push(...page);
    if (page.length < count || entries.length > most) break;
    before = page.at(-1)?.place;
  }
  return { entries: entries.slice(0, most), isCut: entries.length > most };
}

export interface LogPage<T> {
  entries: Placed<T>[];
  nextCursor: string;
}

/** A page of the entries that fit. A page ends early after `MAX_SCANNED` entries, with a cursor to continue from. */
export async function pageLog<T>(
  read: (range: LogRange, count: number) => Promise<Placed<T>[]>,
  range: LogRange,
  fits: (entry: T) => boolean,
  limit: number,
): Promise<LogPage<T>> {
  const entries: Placed<T>[] = [];
  let before = range.before;
  for (let scanned = 0; scanned < MAX_SCANNED;) {
    const page = await read({ ...range, ...(before && { before }) }, pageSize);
    for (const entry of page) {
      if (!fits(entry)) continue;
      const last = entries.at(-1);
      if (entries.length === limit && last) return { entries, nextCursor: encodeCursor(last.place) };
      entries.push(entry);
    }
    if (page.length < pageSize) return { entries, nextCursor: '' };
    scanned += page.length;
    before = page.at(-1)?.place;
  }
  return { entries, nextCursor: before ? encodeCursor(before) : '' };
}

const encodeCursor = ({ ms, seq }: LogPlace): string => `${ms}-${seq}`;

/** The contract checks its form. */
export function decodeCursor(cursor: string): LogPlace {
  const [ms, seq] = cursor.split('-');
  return { ms: Number(ms), seq: Number(seq) };
}
