/**
 * Bundles one project into dist/<project root>/main.js. npm packages stay outside of the bundle; libraries of this repository
 * are included. Lua scripts and .proto files are copied next to the bundle, where the code reads them (`__dirname`).
 */
import { cpSync, existsSync } from 'node:fs';
import { build } from 'esbuild';

const root = process.argv[2];
if (!root || !existsSync(`${root}/src/main.ts`)) {
  console.error('usage: node tools/build.mjs <project root with src/main.ts>');
  process.exit(2);
}
const bundle = (entry, name) =>
  build({
    entryPoints: [entry],
    outfile: `dist/${root}/${name}.js`,
    bundle: true,
    platform: 'node',
    target: 'node20',
    format: 'cjs',
    sourcemap: true,
    metafile: true,
    packages: 'external',
    tsconfig: 'tsconfig.base.json',
    logLevel: 'warning',
  });
const { metafile } = await bundle(`${root}/src/main.ts`, 'main');
// Scan threads run a separate bundle, which the code expects next to main.js.
if ('libs/kits/kernel-client/src/thread-entry.ts' in metafile.inputs) {
  await bundle('libs/kits/kernel-client/src/scan-worker.ts', 'scan-worker');
}
const assets = [
  ['libs/store/src/scripts', 'scripts'],
  ['libs/kits/kernel-client/src/kernel-scripts', 'kernel-scripts'],
  ['libs/contract/src/proto', 'proto'],
];
for (const [from, to] of assets) {
  if (existsSync(from)) cpSync(from, `dist/${root}/${to}`, { recursive: true, filter: (f) => !f.endsWith('.ts') });
}
