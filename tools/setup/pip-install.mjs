import { rmSync } from 'node:fs';
import { findPip } from './pip.mjs';
import { run, SetUpError, tail } from './say.mjs';

/**
 * Installs the packages of a requirements file with hashes into a folder of this repository, which is emptied first.
 *
 * @throws SetUpError with the output of pip
 */
export async function installRequirements(python, requirements, target) {
  rmSync(target, { recursive: true, force: true });
  const options = ['--only-binary', ':all:', '--require-hashes', '-r', requirements];
  await pipInstall(python, ['--target', target, ...options]);
}

/** @throws SetUpError with the output of pip */
export async function pipInstall(python, args) {
  const quiet = ['--quiet', '--no-input', '--disable-pip-version-check'];
  const { code, output } = await run('pip install', python, [...(findPip(python) ?? []), 'install', ...quiet, ...args]);
  if (code !== 0) throw new SetUpError(`pip install ${args.join(' ')} failed:\n${tail(output)}`);
}
