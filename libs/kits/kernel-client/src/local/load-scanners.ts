import { existsSync } from 'node:fs';
import { readScanners, type ReadScanners } from '../scan/scanners';
import { readCapped } from './load-policy';

const maxBytes = 1_048_576;

/** Reads the scanners file; without one the built-in scanners are in effect. See docs/scanning.md. */
export async function loadScanners(path: string): Promise<ReadScanners> {
  if (!existsSync(path)) return readScanners(undefined, path);
  const read = await readCapped(path, maxBytes);
  if (!read.ok) return { ok: false, problems: [`${path}: ${read.fault}`] };
  return readScanners(read.bytes.toString('utf8'), path);
}
