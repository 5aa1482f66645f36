import { builtInScanners, parseScanners, type ScannerSet } from '@svc/scanning';
import { problemText } from '../events';
import { readCapped } from './load-policy';

const maxBytes = 1_048_576;

export interface Scanners {
  set: ScannerSet;
  /** The file's text, for threads that build the set themselves; undefined for the built-in ones. */
  text: string | undefined;
  source: string;
}

export type LoadedScanners = { ok: true; scanners: Scanners } | { ok: false; problems: string[] };

/** The scanners that need no file. Spec: "If the file cannot be parsed the built-in scanners are used." */
export const standardScanners: Scanners = { set: builtInScanners, text: undefined, source: '' };

/** Reads the scanners file. Operations contract 4.4. */
export async function loadScanners(path: string): Promise<LoadedScanners> {
  const read = await readCapped(path, maxBytes);
  if (!read.ok) return { ok: false, problems: [`${path}: ${read.fault}`] };
  const text = read.bytes.toString('utf8');
  const parsed = parseScanners(text, { source: path });
  if (!parsed.ok) return { ok: false, problems: parsed.problems.map(problemText) };
  return { ok: true, scanners: { set: parsed.scanners, text, source: path } };
}
