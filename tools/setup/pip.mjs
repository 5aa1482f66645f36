import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { toolsDir } from './paths.mjs';

/** Where Debian keeps the pip that it bundles for virtual environments: in the system, or where set-up unpacked it. */
const wheelFolders = ['/usr/share/python-wheels', join(toolsDir, 'root/usr/share/python-wheels')];

/** @returns the arguments with which this Python runs pip, or undefined when it has none */
export function pipOf(python) {
  const wheels = wheelFolders.flatMap(pipWheelsIn).map((wheel) => [join(wheel, 'pip')]);
  return [['-m', 'pip'], ...wheels].find((pip) => spawnSync(python, [...pip, '--version']).status === 0);
}

function pipWheelsIn(folder) {
  try {
    return readdirSync(folder)
      .filter((name) => /^pip-.*\.whl$/.test(name))
      .map((name) => join(folder, name));
  } catch {
    return []; // there is no such folder
  }
}
