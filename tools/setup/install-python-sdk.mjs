/**
 * Installs sdk/python into a folder, as `pip install ./sdk/python` does, but without requests to a registry: its
 * dependencies are those of `npm run setup -- --python`. `node tools/setup/install-python-sdk.mjs <folder>`
 */
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { orExplain } from '../setup.mjs';
import { privateBin, root } from './paths.mjs';
import { pipInstall } from './pip-install.mjs';
import { SetUpError } from './say.mjs';

await orExplain(async () => {
  const [folder] = process.argv.slice(2);
  if (!folder) throw new SetUpError('usage: node tools/setup/install-python-sdk.mjs <folder>');
  const python = join(privateBin, 'third-party-python');
  if (!existsSync(python)) throw new SetUpError('run `npm run setup -- --python` first');
  const offline = ['--no-index', '--no-deps', '--no-build-isolation'];
  await pipInstall(python, ['--target', resolve(folder), ...offline, join(root, 'sdk/python')]);
});
