import { builtInScanners, parseScanners, type ScannerSet } from '@svc/scanning';
import { problemText } from '../events';

/** Compiled scanners with their source text, from which threads compile their own. */
export interface Scanners {
  set: ScannerSet;
  /** Undefined: the built-in scanners. */
  text: string | undefined;
}

export type ReadScanners = { ok: true; scanners: Scanners } | { ok: false; problems: string[] };

/** Text of a scanners file, undefined for the built-in scanners. See docs/scanning.md. */
export function readScanners(text: string | undefined, source: string): ReadScanners {
  if (text === undefined) return { ok: true, scanners: standardScanners() };
  const parsed = parseScanners(text, { source });
  if (!parsed.ok) return { ok: false, problems: parsed.problems.map(problemText) };
  return { ok: true, scanners: { set: parsed.scanners, text } };
}

/** The scanners that need no file. */
export const standardScanners = (): Scanners => ({ set: builtInScanners, text: undefined });
