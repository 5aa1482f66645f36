import { accessSync, constants } from 'node:fs';
import { delimiter, join, resolve } from 'node:path';

/** Where set-up puts programs it may not install into the system. */
const privateBin = resolve(__dirname, '../../../../.svc/tools/bin');

/** @returns the path of a program on PATH, in the folders of servers, or where set-up has put it; else undefined */
export function findProgram(name: string, env: NodeJS.ProcessEnv = process.env): string | undefined {
  const folders = [...(env['PATH'] ?? '').split(delimiter), '/usr/sbin', '/usr/local/sbin', privateBin];
  return folders
    .filter((folder) => folder !== '')
    .map((folder) => join(folder, name))
    .find(isExecutable);
}

/** @throws Error that says how to get it */
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
