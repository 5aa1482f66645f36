import { parsePools, type PoolTable } from '@svc/routing';
import { readFileSync } from 'node:fs';

/** @throws Error with the file and every problem in it */
export function readPools(file: string): PoolTable {
  const parsed = parsePools(readFileSync(file, 'utf8'), file, false);
  if (parsed.ok) return parsed.value;
  throw new Error(
    parsed.problems.map(({ line, column, message }) => `${file}:${line}:${column}: ${message}`).join('\n'),
  );
}
