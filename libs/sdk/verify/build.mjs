/**
 * Builds the package as it is published, into dist/ (or the folder given): the command as one file without dependencies, and the
 * licenses of what is bundled in. Publish that folder: `node build.mjs && npm publish dist`.
 */
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const here = dirname(fileURLToPath(import.meta.url));
const root = resolve(here, '../../..');
const out = resolve(process.argv[2] ?? join(here, 'dist'));
const { name, version, description, license, engines } = JSON.parse(readFileSync(join(here, 'package.json'), 'utf8'));

rmSync(out, { recursive: true, force: true });
mkdirSync(out, { recursive: true });

const { metafile } = await build({
  entryPoints: [join(here, 'src/cli.ts')],
  outfile: join(out, 'svc-verify.cjs'),
  bundle: true,
  platform: 'node',
  target: 'node20',
  format: 'cjs',
  banner: { js: '#!/usr/bin/env node' },
  tsconfig: join(root, 'tsconfig.base.json'),
  absWorkingDir: root,
  metafile: true,
  logLevel: 'warning',
});
chmodSync(join(out, 'svc-verify.cjs'), 0o755);

const bundled = new Set(
  Object.keys(metafile.inputs).flatMap((file) => /node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(file)?.[1] ?? []),
);
const licenses = [...bundled].sort().map((packageName) => {
  const folder = join(root, 'node_modules', packageName);
  const file = readdirSync(folder).find((entry) => /^licen[cs]e/i.test(entry));
  if (!file || !existsSync(join(folder, file))) throw new Error(`${packageName} has no license file`);
  return `${packageName}\n\n${readFileSync(join(folder, file), 'utf8').trim()}\n`;
});
writeFileSync(join(out, 'LICENSES-BUNDLED.txt'), licenses.join('\n----\n\n'));
copyFileSync(join(here, 'README.md'), join(out, 'README.md'));
copyFileSync(join(root, 'LICENSE'), join(out, 'LICENSE'));
const published = { name, version, description, license, engines, bin: { 'svc-verify': 'svc-verify.cjs' } };
writeFileSync(join(out, 'package.json'), `${JSON.stringify(published, null, 2)}\n`);
