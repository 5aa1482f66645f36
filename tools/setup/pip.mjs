import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { toolsDir } from './paths.mjs';

/** Folders of the pip wheel that Debian bundles for virtual environments. */
const wheelFolders = ['/usr/share/python-wheels', join(toolsDir, 'root/usr/share/python-wheels')];

/** @returns the arguments that run pip with this Python, or undefined without pip */
export function findPip(python) {
  const wheels = wheelFolders.flatMap(pipWheelsIn).map((wheel) => [join(wheel, 'pip')]);
  return [['-m', 'pip'], ...wheels].find((pip) => spawnSync(python, [...pip, '--version']).status === 0);
}

function pipWheelsIn(folder) {
  try {
    return readdirSync(folder)
      .filter((name) => /^pip-.*\.whl$/.test(name))
      .map((name) => join(folder, name));
  } catch {
    return []; // the folder does not exist
  }
}
