import { findProgram } from '@svc/testing';
import { join } from 'node:path';

/** Python with the packages of requirements.txt. @throws Error with instructions */
export function requirePython(): string {
  const python = findProgram('third-party-python');
  if (!python) throw new Error('the Python packages were not found: run `npm run setup -- --python` first');
  return python;
}

export const scriptPath = (name: string): string => join(__dirname, name);
