import { build } from 'esbuild';
import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';

/** What a worker says it has done since it was last asked. */
export interface WorkerCounts {
  jobs: number;
  /** Ids of jobs it was given more than once. */
  repeated: string[];
}

/** Bundles one file of the bench into a program of its own, beside the packages it needs. @returns its path */
export async function bundle(root: string, file: string): Promise<string> {
  const folder = join(root, 'node_modules/.svc-bench');
  mkdirSync(folder, { recursive: true });
  const outfile = join(folder, `${process.pid}-${file.replaceAll('/', '-')}.cjs`);
  await build({
    entryPoints: [join(root, `tools/bench/${file}.ts`)],
    outfile,
    bundle: true,
    platform: 'node',
    target: 'node20',
    format: 'cjs',
    sourcemap: true,
    packages: 'external',
    tsconfig: join(root, 'tsconfig.base.json'),
    logLevel: 'warning',
  });
  return outfile;
}

/** A program that says something once it serves, and that ends when its channel to the bench closes. */
export async function startChild(
  script: string,
  env: NodeJS.ProcessEnv,
): Promise<{ child: ChildProcess; said: unknown }> {
  const child = fork(script, [], { env, stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
  const ended = once(child, 'exit').then(([code]: unknown[]) => {
    throw new Error(`${script} ended with ${String(code)} before it was up`);
  });
  const [said] = (await Promise.race([once(child, 'message'), ended])) as [unknown];
  ended.catch(() => undefined); // from here on its end is no failure of its start
  return { child, said };
}

export async function stopChild(child: ChildProcess, withinMs = 10_000): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  child.kill('SIGTERM');
  const timer = setTimeout(() => child.kill('SIGKILL'), withinMs);
  await ended;
  clearTimeout(timer);
}

/** Asks the worker what it has done since it was last asked. */
export async function workerCounts(child: ChildProcess): Promise<WorkerCounts> {
  child.send('counts?');
  const [counts] = (await once(child, 'message')) as [WorkerCounts];
  return counts;
}
