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
  const ended = once(child, 'exit').then(() => undefined);
  return {
    drain: () => void (isRunning(child) && child.kill('SIGTERM')),
    ended,
    stop: () => endChild(child),
  };
}

/** A process that someone else started. */
export function attachProcess(pid: number): WorkerProcess {
  return {
    drain: () => void process.kill(pid, 'SIGTERM'),
    get ended() {
      return waitForEnd(pid);
    },
  };
}

async function waitForEnd(pid: number): Promise<void> {
  for (;;) {
    try {
      process.kill(pid, 0);
    } catch {
      return;
    }
    await sleep(pollMs, undefined, { ref: false });
  }
}
