/**
 * Bundles one project into dist/<project root>/main.js. Packages stay outside the bundle; libraries of this repository
 * go in. Lua scripts and .proto files are copied beside the bundle, where the code looks for them (`__dirname`).
 */
import { cpSync, existsSync } from 'node:fs';
import { build } from 'esbuild';

const root = process.argv[2];
if (!root || !existsSync(`${root}/src/main.ts`)) {
  console.error('usage: node tools/build.mjs <project root with src/main.ts>');
  process.exit(2);
}
await build({
  entryPoints: [`${root}/src/main.ts`],
  outfile: `dist/${root}/main.js`,
  bundle: true,
  platform: 'node',
  target: 'node20',
  format: 'cjs',
  sourcemap: true,
  packages: 'external',
  tsconfig: 'tsconfig.base.json',
  logLevel: 'warning',
});
const assets = { 'libs/store/src/scripts': 'scripts', 'libs/contract/src/proto': 'proto' };
for (const [from, to] of Object.entries(assets)) {
  if (existsSync(from)) cpSync(from, `dist/${root}/${to}`, { recursive: true, filter: (f) => !f.endsWith('.ts') });
}
