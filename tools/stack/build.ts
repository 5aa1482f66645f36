import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { repositoryRoot } from './settings';

const nx = join(repositoryRoot, 'node_modules/nx/dist/bin/nx.js');

/**
 * Builds applications with Nx, which skips unchanged ones.
 *
 * @throws Error with the output of a build that failed
 */
export async function buildApps(apps: readonly string[]): Promise<void> {
  const args = [nx, 'run-many', '-t', 'build', '-p', apps.join(','), '--output-style=static'];
  const child = spawn(process.execPath, args, {
    cwd: repositoryRoot,
    env: { ...process.env, NX_DAEMON: 'false', NX_INTERACTIVE: 'false', NX_TUI: 'false' },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (data: Buffer) => (output += data.toString()));
  const [code] = (await once(child, 'close')) as [number | null];
  if (code !== 0) throw new Error(`the build failed\n${output}`);
}
