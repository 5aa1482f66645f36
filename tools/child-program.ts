import { build } from 'esbuild';
import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { repositoryRoot } from './stack/settings';

/**
 * Bundles a file of this repository into a separate program, inside the repository so that Node resolves its packages.
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
    // Atomic, since another run may start the same program.
    const unfinished = `${path}.${process.pid}`;
    writeFileSync(unfinished, contents);
    renameSync(unfinished, path);
  }
  return outfile;
}

/** Starts a program with an IPC channel to this process; `firstMessage` receives from it. */
export const startChild = (script: string, env: NodeJS.ProcessEnv): ChildProcess =>
  fork(script, [], { env, stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });

/**
 * Resolves with the first message of a program, which it sends when it is ready.
 *
 * @throws Error when it exits before that
 */
export async function firstMessage(child: ChildProcess): Promise<unknown> {
  const ended = once(child, 'exit').then(([code]: unknown[]) => {
    throw new Error(`${child.spawnargs.at(-1)} exited with ${String(code)} before it was ready`);
  });
  const [message] = (await Promise.race([once(child, 'message'), ended])) as [unknown];
  ended.catch(() => undefined); // a later exit is not a failed start
  return message;
}

/** Sends SIGTERM, and SIGKILL if the process has not exited in time. */
export async function stopChild(child: ChildProcess, withinMs = 10_000): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  child.kill('SIGTERM');
  const timer = setTimeout(() => child.kill('SIGKILL'), withinMs);
  await ended;
  clearTimeout(timer);
}
