import { createHash } from 'node:crypto';
import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { repositoryRoot } from '../../stack/settings';

const lockFile = join(repositoryRoot, 'tools/bench/peers/restate-lock.json');

/**
 * Installs the packages of restate-lock.json below .svc/tools, unless exactly these are installed. They are no dependency
 * of this repository: only a bench with --peers downloads them. The server has the Business Source License.
 *
 * @returns the folder that has them in its node_modules
 * @throws Error with the output of npm
 */
export async function installRestate(say: (text: string) => void): Promise<string> {
  const lock = readFileSync(lockFile);
  const hash = createHash('sha256').update(lock).digest('hex').slice(0, 16);
  const folder = join(repositoryRoot, '.svc/tools/restate', hash);
  if (existsSync(folder)) return folder;
  say('installing Restate from npm (220 MB, once)');
  const fresh = `${folder}.${process.pid}`;
  mkdirSync(fresh, { recursive: true });
  const { packages } = JSON.parse(lock.toString()) as { packages: { '': object } };
  writeFileSync(join(fresh, 'package.json'), JSON.stringify(packages['']));
  writeFileSync(join(fresh, 'package-lock.json'), lock);
  try {
    await promisify(execFile)('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund'], { cwd: fresh });
    // A folder with the final name is complete.
    if (!existsSync(folder)) renameSync(fresh, folder);
  } finally {
    rmSync(fresh, { recursive: true, force: true });
  }
  return folder;
}

/** The server's program for this machine. @throws Error when the package has none */
export function restateProgram(folder: string): string {
  const name = `@restatedev/restate-server-${process.platform}-${process.arch}`;
  const program = join(folder, 'node_modules', name, 'bin/restate-server');
  if (!existsSync(program)) throw new Error(`Restate has no server for this machine (${name})`);
  return program;
}

/** Version of the server, as its lock file has it. */
export function restateVersion(): string {
  const { packages } = JSON.parse(readFileSync(lockFile, 'utf8')) as { packages: Record<string, { version?: string }> };
  return packages['node_modules/@restatedev/restate-server']?.version ?? '';
}
