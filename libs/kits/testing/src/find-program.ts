import { accessSync, constants } from 'node:fs';
import { delimiter, join, resolve } from 'node:path';

/** Directory in which `npm run setup` installs programs without root access. */
const privateBin = resolve(__dirname, '../../../../.svc/tools/bin');

/** @returns the path of a program on PATH, in the sbin directories, or installed by `npm run setup`; else undefined */
export function findProgram(name: string, env: NodeJS.ProcessEnv = process.env): string | undefined {
  const folders = [...(env['PATH'] ?? '').split(delimiter), '/usr/sbin', '/usr/local/sbin', privateBin];
  return folders
    .filter((folder) => folder !== '')
    .map((folder) => join(folder, name))
    .find(isExecutable);
}

/** @throws Error with the command that installs it */
export function requireProgram(name: string): string {
  const found = findProgram(name);
  if (!found) throw new Error(`${name} was not found: run \`npm run setup\` first`);
  return found;
}

function isExecutable(path: string) {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
