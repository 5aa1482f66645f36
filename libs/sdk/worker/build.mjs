/**
 * Builds the package as it is published, into dist/ (or the folder given): a CommonJS and an ES module bundle with the
 * contract inside, the declarations of what index.ts exports, and a package.json without the workspace's paths. Publish
 * that folder: `node build.mjs && npm publish dist`.
 */
import { execFileSync } from 'node:child_process';
import { copyFileSync, cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const here = dirname(fileURLToPath(import.meta.url));
const root = resolve(here, '../../..');
const out = resolve(process.argv[2] ?? join(here, 'dist'));
const manifest = JSON.parse(readFileSync(join(here, 'package.json'), 'utf8'));

rmSync(out, { recursive: true, force: true });
mkdirSync(out, { recursive: true });

const bundle = (format, outfile, banner = '') =>
  build({
    entryPoints: [join(here, 'src/index.ts')],
    outfile: join(out, outfile),
    bundle: true,
    platform: 'node',
    target: 'node20',
    format,
    banner: { js: banner },
    external: Object.keys(manifest.dependencies),
    tsconfig: join(root, 'tsconfig.base.json'),
    logLevel: 'warning',
  });
// What is bundled in from CommonJS asks for Node's own modules with `require`.
const requireForEsm =
  "import { createRequire as __createRequire } from 'node:module'; const require = __createRequire(import.meta.url);";
await bundle('cjs', 'index.cjs');
await bundle('esm', 'index.mjs', requireForEsm);

declarations();
copyFileSync(join(here, 'README.md'), join(out, 'README.md'));
copyFileSync(join(root, 'LICENSE'), join(out, 'LICENSE'));
const { name, version, description, license, engines, dependencies } = manifest;
const published = {
  name, version, description, license, engines,
  main: 'index.cjs',
  module: 'index.mjs',
  types: 'index.d.ts',
  exports: { '.': { types: './index.d.ts', import: './index.mjs', require: './index.cjs' } },
  dependencies,
}; // prettier-ignore
writeFileSync(join(out, 'package.json'), `${JSON.stringify(published, null, 2)}\n`);

/** Emits all declarations, keeps those that index.d.ts leads to, and refuses any that needs the workspace. */
function declarations() {
  const emitted = mkdtempSync(join(tmpdir(), 'worker-sdk-types-'));
  const config = join(here, '.build.tsconfig.json');
  const tsc = createRequire(import.meta.url).resolve('typescript/bin/tsc');
  const compilerOptions = {
    declaration: true,
    emitDeclarationOnly: true,
    noEmit: false,
    outDir: emitted,
    rootDir: root,
  };
  writeFileSync(
    config,
    JSON.stringify({ extends: '../../../tsconfig.base.json', compilerOptions, files: ['src/index.ts'] }),
  );
  try {
    execFileSync(process.execPath, [tsc, '-p', config], { stdio: 'inherit' });
    const folder = join(emitted, 'libs/sdk/worker/src');
    const wanted = ['index'];
    for (const name of wanted) {
      const text = readFileSync(join(folder, `${name}.d.ts`), 'utf8');
      if (text.includes("'@svc/")) throw new Error(`${name}.d.ts needs a library that is not published`);
      cpSync(join(folder, `${name}.d.ts`), join(out, `${name}.d.ts`));
      for (const [, next] of text.matchAll(/from '\.\/([\w-]+)'/g)) if (!wanted.includes(next)) wanted.push(next);
    }
  } finally {
    rmSync(config);
    rmSync(emitted, { recursive: true });
  }
}
