import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';

export interface LeashOptions {
  cwd?: string;
  env?: NodeJS.ProcessEnv;
  /** As in node:child_process; use `pipe` to read the child's output. */
  output?: 'inherit' | 'ignore' | 'pipe';
  /** Directory to remove when this process dies without stopping the child. */
  scratchDir?: string;
}

/**
 * The shell is replaced by the program (`exec`), so the child's pid is the program's. A watcher stays in the background and
 * reads a pipe whose other end only this process holds: the pipe closes when this process ends for any reason, and the watcher
 * then ends the program.
 */
const leash = `
  program=$$ owner=$PPID scratch=$1; shift
  exec 3<&0
  (
    trap '' INT TERM HUP
    cat <&3 >/dev/null
    kill -TERM $program && { i=0; while [ $((i += 1)) -le 50 ]; do sleep 0.1; kill -0 $program || break; done; }
    kill -KILL $program
    [ -n "$scratch" ] && ! kill -0 $owner && rm -rf "$scratch"
  ) >/dev/null 2>&1 &
  exec "$@" </dev/null 3<&-
`;

/**
 * Starts a program that ends with this process, even after an exception or SIGKILL. It has its own process group, so Ctrl-C
 * reaches only this process, which controls the shutdown order.
 */
export function spawnLeashed(command: string, args: readonly string[], options: LeashOptions = {}): ChildProcess {
  const { cwd, env, output = 'ignore', scratchDir = '' } = options;
  return spawn('/bin/sh', ['-c', leash, 'leash', scratchDir, command, ...args], {
    ...(cwd !== undefined && { cwd }),
    ...(env !== undefined && { env }),
    stdio: ['pipe', output, output],
    detached: true,
  });
}

/** True until the child has exited. */
export const isRunning = (child: ChildProcess) => child.exitCode === null && child.signalCode === null;

/** Sends the signal and waits for the exit; sends SIGKILL after `withinMs`. A no-op for a child that has exited. */
export async function endChild(child: ChildProcess, signal: NodeJS.Signals = 'SIGTERM', withinMs = 10_000) {
  if (!isRunning(child)) return;
  const ended = once(child, 'exit');
  child.kill(signal);
  const timer = setTimeout(() => child.kill('SIGKILL'), withinMs);
  await ended;
  clearTimeout(timer);
}
