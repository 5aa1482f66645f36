import { createHash } from 'node:crypto';
import { chmodSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { privateBin, root, toolsDir } from './paths.mjs';
import { installRequirements } from './pip-install.mjs';
import { say } from './say.mjs';

const requirements = join(root, 'tools/third-party/requirements.txt');
const folder = join(toolsDir, 'python');
const markFile = join(folder, '.requirements-sha256');
/** Runs the selected Python with the packages; tests find it by this name. */
const launcher = join(privateBin, 'third-party-python');

/** Installs the packages of requirements.txt into a folder of this repository, unless exactly these are installed. */
export async function installPythonPackages(python) {
  const wanted = createHash('sha256').update(readFileSync(requirements)).update(python).digest('hex');
  if (existsSync(launcher) && existsSync(markFile) && readFileSync(markFile, 'utf8') === wanted) return;
  say('installing the Python packages of tools/third-party');
  const fresh = `${folder}.new`;
  await installRequirements(python, requirements, fresh);
  writeFileSync(join(fresh, '.requirements-sha256'), wanted);
  rmSync(folder, { recursive: true, force: true });
  renameSync(fresh, folder);
  mkdirSync(privateBin, { recursive: true });
  writeFileSync(
    launcher,
    `#!/bin/sh\nPYTHONPATH=${quote(folder)}\${PYTHONPATH:+:$PYTHONPATH} exec ${quote(python)} "$@"\n`,
  );
  chmodSync(launcher, 0o755);
}

const quote = (text) => `'${text.replaceAll("'", `'\\''`)}'`;
