import { existsSync } from 'node:fs';
import { join } from 'node:path';

/** What a scan thread runs. */
export interface ThreadEntry {
  file: string;
  execArgv: readonly string[];
}

/**
 * The code of scan threads: beside a bundle its own bundle, in a checkout the source, compiled as it is loaded. This file
 * stands in the same folder as `scan-worker.ts`, as bundles stand beside each other.
 */
export function threadEntry(folder = __dirname): ThreadEntry {
  const bundled = join(folder, 'scan-worker.js');
  if (existsSync(bundled)) return { file: bundled, execArgv: [] };
  return { file: join(folder, 'scan-worker.ts'), execArgv: ['--require', 'esbuild-register'] };
}
