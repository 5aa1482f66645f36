/** Runs one TypeScript file of this repository with its path aliases: `node tools/run-ts.mjs <file> [arguments]`. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { build } from 'esbuild';

const [file, ...args] = process.argv.slice(2);
const outdir = mkdtempSync(join(resolve('node_modules'), '.run-ts-'));
const outfile = join(outdir, basename(file).replace(/\.ts$/, '.cjs'));
try {
  await build({
    entryPoints: [file],
    outfile,
    bundle: true,
    platform: 'node',
    target: 'node20',
    format: 'cjs',
    sourcemap: 'inline',
    packages: 'external',
    tsconfig: 'tsconfig.base.json',
    logLevel: 'warning',
    plugins: [sourceDirname()],
  });
  const { status } = spawnSync(process.execPath, ['--enable-source-maps', outfile, ...args], { stdio: 'inherit' });
  process.exitCode = status ?? 1;
} finally {
  rmSync(outdir, { recursive: true, force: true });
}

/** Each module sees the folder of its own source as `__dirname`, as it would unbundled. */
function sourceDirname() {
  return {
    name: 'source-dirname',
    setup(b) {
      b.onLoad({ filter: /\.ts$/ }, async ({ path }) => {
        if (path.includes('node_modules')) return undefined;
        const { readFile } = await import('node:fs/promises');
        const { dirname } = await import('node:path');
        const text = await readFile(path, 'utf8');
        return { contents: text.replaceAll('__dirname', JSON.stringify(dirname(path))), loader: 'ts' };
      });
    },
  };
}
