import { existsSync } from 'node:fs';
import { join } from 'node:path';

/** Entry point of a scan thread. */
export interface ThreadEntry {
  file: string;
  execArgv: readonly string[];
}

/**
 * The code of scan threads: a separate bundle next to the main one, or the source in a checkout, compiled on load. This
 * file is in the folder of `scan-worker.ts`, as the bundles share a folder.
 */
export function threadEntry(folder = __dirname): ThreadEntry {
  const bundled = join(folder, 'scan-worker.js');
  if (existsSync(bundled)) return { file: bundled, execArgv: [] };
  return { file: join(folder, 'scan-worker.ts'), execArgv: ['--require', 'esbuild-register'] };
}
