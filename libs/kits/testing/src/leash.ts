import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';

export interface LeashOptions {
  cwd?: string;
  env?: NodeJS.ProcessEnv;
  /** `inherit` and `ignore` as in node:child_process; `pipe` for whoever reads the child's output. */
  output?: 'inherit' | 'ignore' | 'pipe';
  /** A folder to remove when this process dies without stopping the child. */
  scratchDir?: string;
}

/**
 * The shell becomes the program itself (`exec`), so the child's pid is the program's. What stays behind is a watcher
 * that reads a pipe whose other end only we hold: it ends when we end, however we end, and takes the program along.
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
 * Starts a program that cannot outlive this process: not after an exception, not after SIGKILL. It has a process group
 * of its own, so that Ctrl-C reaches only us and we say in which order things end.
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

/** Sends the signal and waits for the end; SIGKILL follows after `withinMs`. A child that has ended stays as it is. */
export async function endChild(child: ChildProcess, signal: NodeJS.Signals = 'SIGTERM', withinMs = 10_000) {
  if (!isRunning(child)) return;
  const ended = once(child, 'exit');
  child.kill(signal);
  const timer = setTimeout(() => child.kill('SIGKILL'), withinMs);
  await ended;
  clearTimeout(timer);
}
