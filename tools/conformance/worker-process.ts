import { endChild, isRunning, spawnLeashed } from '@svc/testing';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import type { WorkerProcess } from './session';

const pollMs = 100;

export interface StartedWorker extends WorkerProcess {
  stop(): Promise<void>;
}

/** Starts the command of a worker; its output goes to standard error. */
export function startWorker([program = '', ...args]: readonly string[], env: NodeJS.ProcessEnv): StartedWorker {
  const child = spawnLeashed(program, args, { env: { ...process.env, ...env }, output: 'pipe' });
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', (data: Buffer) => process.stderr.write(data));
  const ended = once(child, 'exit').then(([code, signal]: (number | string | null)[]) =>
    code === null ? `signal ${String(signal)}` : `exit code ${code}`,
  );
  return {
    drain: () => void (isRunning(child) && child.kill('SIGTERM')),
    ended,
    stop: () => endChild(child),
  };
}

/** A process that someone else started. */
export const attachProcess = (pid: number): WorkerProcess => ({
  drain: () => void process.kill(pid, 'SIGTERM'),
  ended: waitForEnd(pid),
});

async function waitForEnd(pid: number): Promise<string> {
  for (;;) {
    try {
      process.kill(pid, 0);
    } catch {
      return `process ${pid} is gone`;
    }
    await sleep(pollMs, undefined, { ref: false });
  }
}
