/** Runs one TypeScript file of this repository with its path aliases: `node tools/run-ts.mjs <file> [arguments]`. */
import { mkdirSync, readFileSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const root = resolve(dirname(fileURLToPath(import.meta.url)), '..');

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [file, ...args] = process.argv.slice(2);
  if (!file) {
    console.error('usage: node tools/run-ts.mjs <file> [arguments]');
    process.exit(2);
  }
  await runTs(file, args);
}

/**
 * Loads the file into this process, so that it receives the signals and sets the exit code.
 *
 * @returns what the file exports
 */
export async function runTs(file, args = []) {
  const folder = join(root, 'node_modules/.run-ts');
  const outfile = join(folder, `${process.pid}-${Date.now()}.cjs`);
  mkdirSync(folder, { recursive: true });
  process.setSourceMapsEnabled(true);
  try {
    await build({
      entryPoints: [resolve(file)],
      outfile,
      bundle: true,
      platform: 'node',
      target: 'node20',
      format: 'cjs',
      sourcemap: 'inline',
      packages: 'external',
      tsconfig: join(root, 'tsconfig.base.json'),
      logLevel: 'warning',
      plugins: [sourceDirname()],
    });
    process.argv = [process.argv[0], resolve(file), ...args];
    return createRequire(import.meta.url)(outfile);
  } finally {
    // Loaded into memory.
    rmSync(outfile, { force: true });
  }
}

/** Sets `__dirname` of each module to the folder of its source, as without bundling. */
function sourceDirname() {
  return {
    name: 'source-dirname',
    setup(b) {
      b.onLoad({ filter: /\.ts$/ }, ({ path }) => {
        if (path.includes('node_modules')) return undefined;
        const text = readFileSync(path, 'utf8');
        return { contents: text.replaceAll('__dirname', JSON.stringify(dirname(path))), loader: 'ts' };
      });
    },
  };
}
