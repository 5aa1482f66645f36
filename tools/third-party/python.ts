import { findProgram } from '@svc/testing';
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';

/** Python with the packages of requirements.txt. @throws Error with instructions */
export function requirePython(): string {
  const python = findProgram('third-party-python');
  if (!python) throw new Error('the Python packages were not found: run `npm run setup -- --python` first');
  return python;
}

export const scriptPath = (name: string): string => join(__dirname, name);

/** Installs sdk/python into a folder for PYTHONPATH, as its users do. */
export function installPythonSdk(folder: string): void {
  execFileSync(process.execPath, [join(__dirname, '../setup/install-python-sdk.mjs'), folder], { stdio: 'pipe' });
}
