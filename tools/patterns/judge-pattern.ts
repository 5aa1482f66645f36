import { checkSync, type Diagnostics } from 'recheck';

/** Checks a pattern with recheck, with its in-process engine, so that the result is the same on every machine. */
export function judgePattern(source: string, flags: string, timeoutMs: number): Diagnostics {
  process.env['RECHECK_BACKEND'] = 'pure';
  return checkSync(source, flags, { timeout: timeoutMs });
}
