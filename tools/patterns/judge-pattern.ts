import { checkSync, type Diagnostics } from 'recheck';

/** What recheck finds out about a pattern. In this process and alike on every machine: its other engines are programs. */
export function judgePattern(source: string, flags: string, timeoutMs: number): Diagnostics {
  process.env['RECHECK_BACKEND'] = 'pure';
  return checkSync(source, flags, { timeout: timeoutMs });
}
