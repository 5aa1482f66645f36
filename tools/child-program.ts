import { build } from 'esbuild';
import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { repositoryRoot } from './stack/settings';

/**
 * Bundles a file of this repository into a program of its own, beside the packages it needs so that Node finds them.
 *
 * @param file path from the root of the repository
 * @returns path of the program
 */
export async function bundleProgram(file: string): Promise<string> {
  const outfile = join(repositoryRoot, 'node_modules/.svc-programs', file.replace(/\.ts$/, '.cjs'));
  mkdirSync(dirname(outfile), { recursive: true });
  const { outputFiles } = await build({
    entryPoints: [join(repositoryRoot, file)],
    outfile,
    bundle: true,
    platform: 'node',
    target: 'node20',
    format: 'cjs',
    sourcemap: true,
    packages: 'external',
    tsconfig: join(repositoryRoot, 'tsconfig.base.json'),
    logLevel: 'warning',
    write: false,
  });
  for (const { path, contents } of outputFiles) {
    // Another run that starts the same program must not read half of it.
    const unfinished = `${path}.${process.pid}`;
    writeFileSync(unfinished, contents);
    renameSync(unfinished, path);
  }
  return outfile;
}

/** Starts a program with a channel to this process; what it says there, `firstWord` hears. */
export const startChild = (script: string, env: NodeJS.ProcessEnv): ChildProcess =>
  fork(script, [], { env, stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });

/**
 * What a program says first, which is when it serves.
 *
 * @throws Error when it ends before it says anything
 */
export async function firstWord(child: ChildProcess): Promise<unknown> {
  const ended = once(child, 'exit').then(([code]: unknown[]) => {
    throw new Error(`${child.spawnargs.at(-1)} ended with ${String(code)} before it was up`);
  });
  const [said] = (await Promise.race([once(child, 'message'), ended])) as [unknown];
  ended.catch(() => undefined); // from here on its end is no failure of its start
  return said;
}

/** Asks a process to end, and ends it when it has not done so in time. */
export async function stopChild(child: ChildProcess, withinMs = 10_000): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  child.kill('SIGTERM');
  const timer = setTimeout(() => child.kill('SIGKILL'), withinMs);
  await ended;
  clearTimeout(timer);
}
